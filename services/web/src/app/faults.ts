import { type Failure, failureOf } from "../api/errors";
import { has, t } from "../i18n/index.svelte";
import { toast } from "./announce.svelte";

/** What went wrong, in a sentence: our own text for the code, else the server's. */
export function failureText(failure: Pick<Failure, "code" | "sentence">): string {
  const key = `shell.code.${failure.code}`;
  return has(key) ? t(key) : failure.sentence || t("shell.code.other", { code: failure.code });
}

/** Says at the screen's edge what went wrong. */
export function complain(error: unknown): void {
  toast(failureText(failureOf(error)), "bad");
}
