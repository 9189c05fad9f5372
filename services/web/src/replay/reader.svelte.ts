import { failureOf } from "../api/errors";
import { account, ensureAccount, isKnown } from "../app/session.svelte";

/** Makes a call that needs a session; who has none becomes a guest first. */
export async function asReader<T>(call: () => Promise<T>): Promise<T> {
  await known();
  if (account() === null) await ensureAccount();
  try {
    return await call();
  } catch (error) {
    // The session ended meanwhile.
    if (failureOf(error).code !== "unauthenticated") throw error;
    await ensureAccount();
    return call();
  }
}

/** Waits until the page knows who is signed in. */
function known(): Promise<void> {
  if (isKnown()) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = $effect.root(() => {
      $effect(() => {
        if (!isKnown()) return;
        resolve();
        queueMicrotask(() => stop());
      });
    });
  });
}
