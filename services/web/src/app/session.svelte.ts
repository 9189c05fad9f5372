import { accounts, sessions } from "../api/clients";
import { failureOf } from "../api/errors";
import { onSignedOut } from "../api/transport";
import type { Account } from "../gen/grimoire/v1/play_pb";

let me = $state.raw<Account | null>(null);
let asked = $state(false);

/** Who is signed in here; null: nobody. */
export function account(): Account | null {
  return me;
}

/** It is known who is signed in. */
export function isKnown(): boolean {
  return asked;
}

const STORE = "grimoire.account";

/** Says who is signed in now; other windows of this browser are told, too. */
export function setAccount(next: Account | null): void {
  me = next;
  asked = true;
  try {
    localStorage.setItem(STORE, next?.accountId ?? "");
  } catch {
    // Then other windows find out with their next call.
  }
}

const AGAIN_MS = 3000;

/** Asks the server who we are; while it is out of reach, again and again. */
export async function refresh(): Promise<void> {
  for (;;) {
    try {
      setAccount((await accounts.getMe({})).account ?? null);
      return;
    } catch (error) {
      if (!failureOf(error).again) {
        setAccount(null);
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Finds out who is signed in, and follows what other windows and the server say about it. */
export function startSession(): void {
  window.addEventListener("storage", (event) => {
    if (event.key === STORE && event.newValue !== (me?.accountId ?? "")) void refresh();
  });
  onSignedOut(() => {
    if (me !== null) void refresh();
  });
  void refresh();
}

let making: Promise<Account> | null = null;

/** The account we have, or a guest made by this call: playing needs no more than that. */
export async function ensureAccount(): Promise<Account> {
  if (me !== null) return me;
  making ??= sessions
    .createGuest({})
    .then((answer) => {
      if (answer.account === undefined) throw new Error("no account in the answer");
      setAccount(answer.account);
      return answer.account;
    })
    .finally(() => {
      making = null;
    });
  return making;
}
