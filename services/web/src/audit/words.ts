import type { Check } from "../fair/checks";
import { has, t } from "../i18n/index.svelte";

/** What a check found, in a sentence; its code where nobody wrote one. */
export function foundText(check: Check): string {
  const key = `audit.found.${check.code}`;
  if (!has(key)) return check.code;
  const args = { ...check.args, v: check.version };
  const fault = args["fault" as keyof typeof args];
  return t(key, typeof fault === "string" ? { ...args, fault: t(`audit.fault.${fault}`) } : args);
}
