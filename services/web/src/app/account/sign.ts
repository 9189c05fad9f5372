import { accounts } from "../../api/clients";
import { t } from "../../i18n/index.svelte";
import { toast } from "../announce.svelte";
import { complain } from "../faults";
import { setAccount } from "../session.svelte";

/** Ends this session. */
export async function signOut(): Promise<void> {
  try {
    await accounts.signOut({});
    setAccount(null);
    toast(t("shell.signed_out"), "good");
  } catch (error) {
    complain(error);
  }
}

/** What this session is called in the list of sessions: browser and system, as far as they say it. */
export function deviceLabel(agent: string = navigator.userAgent): string {
  const browser = /Firefox/.test(agent)
    ? "Firefox"
    : /Edg\//.test(agent)
      ? "Edge"
      : /OPR\//.test(agent)
        ? "Opera"
        : /Chrome\//.test(agent)
          ? "Chrome"
          : /Safari\//.test(agent)
            ? "Safari"
            : "";
  const system = /Android/.test(agent)
    ? "Android"
    : /iPhone|iPad/.test(agent)
      ? "iOS"
      : /Windows/.test(agent)
        ? "Windows"
        : /Mac OS/.test(agent)
          ? "macOS"
          : /Linux/.test(agent)
            ? "Linux"
            : "";
  return [browser, system].filter(Boolean).join(" · ");
}
