import { failureOf } from "../api/errors";
import { ensureAccount } from "../app/session.svelte";

/** Makes a call that needs a session; who has none becomes a guest, and it is made again. */
export async function asReader<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (failureOf(error).code !== "unauthenticated") throw error;
    await ensureAccount();
    return call();
  }
}
