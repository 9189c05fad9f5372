import { accounts, sessions } from "../api/clients";
import { failureOf } from "../api/errors";
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

export function setAccount(next: Account | null): void {
  me = next;
  asked = true;
}

/** Asks the server who we are. */
export async function refresh(): Promise<void> {
  try {
    setAccount((await accounts.getMe({})).account ?? null);
  } catch (error) {
    if (failureOf(error).code === "unreachable") throw error;
    setAccount(null);
  }
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
