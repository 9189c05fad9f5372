import { Code, ConnectError } from "@connectrpc/connect";

import { type Rejection, RejectionSchema } from "../gen/grimoire/v1/envelope_pb";

/** What went wrong, as a page shows it. */
export interface Failure {
  /** Stable: the server's rejection code, or `unreachable`, `timeout`, `internal`. */
  readonly code: string;
  /** The numbered rule behind it, e.g. "TT-4.6"; empty if there is none. */
  readonly rule: string;
  /** A sentence in English from the server; empty if it gave none. Pages prefer their own text for `code`. */
  readonly sentence: string;
  /** Trying again may help. */
  readonly again: boolean;
  readonly rejection: Rejection | null;
}

/** A rejection that came as an answer, thrown so that callers handle it like any other failure. */
export class RefusedError extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.code);
    this.rejection = rejection;
  }
}

/** The answer, where it carries no rejection. Throws `RefusedError`. */
export function granted<Answer extends { rejection?: Rejection | undefined }>(answer: Answer): Answer {
  if (answer.rejection !== undefined) throw new RefusedError(answer.rejection);
  return answer;
}

/** The typed rejection inside an error of a call, if it carries one. */
export function rejectionOf(error: unknown): Rejection | null {
  if (error instanceof RefusedError) return error.rejection;
  return ConnectError.from(error).findDetails(RejectionSchema)[0] ?? null;
}

/** Any thrown thing as a `Failure`. */
export function failureOf(error: unknown): Failure {
  const rejection = rejectionOf(error);
  if (rejection !== null) {
    return { code: rejection.code, rule: rejection.rule, sentence: rejection.message, again: rejection.retryAfterMs > 0, rejection };
  }
  const raised = ConnectError.from(error);
  if (raised.code === Code.DeadlineExceeded) return plain("timeout", true);
  if (raised.code === Code.Unavailable || raised.code === Code.Unknown) return plain("unreachable", true);
  if (raised.code === Code.Canceled) return plain("canceled", true);
  return plain(Code[raised.code].toLowerCase(), raised.code === Code.Internal, raised.rawMessage);
}

function plain(code: string, again: boolean, sentence = ""): Failure {
  return { code, rule: "", sentence, again, rejection: null };
}
