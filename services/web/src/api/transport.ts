import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

let signedOut: (() => void) | null = null;

/** Is told when the server no longer knows who we are. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

function notice(error: unknown): void {
  if (ConnectError.from(error).code === Code.Unauthenticated) signedOut?.();
}

const watchful: Interceptor = (next) => async (request) => {
  try {
    const answer = await next(request);
    // A stream says only in its course that whoever asked for it is signed out.
    return answer.stream ? { ...answer, message: noticing(answer.message) } : answer;
  } catch (error) {
    notice(error);
    throw error;
  }
};

async function* noticing<Message>(messages: AsyncIterable<Message>): AsyncIterable<Message> {
  try {
    yield* messages;
  } catch (error) {
    notice(error);
    throw error;
  }
}

/** Every call goes to the page's own origin; the session travels as a cookie. */
export const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  // Unary calls that hang are worse than ones that fail; streams set their own signal.
  defaultTimeoutMs: 15_000,
  interceptors: [watchful],
});
