import { hex } from "../api/ids";
import { transparency } from "../api/logs";
import { keepLog, knownLog } from "../audit/known_log";
import { type Bytes, fromUtf8, lines, same } from "../fair/bytes";
import { bestHasher } from "../fair/hasher";
import { isConsistent, leafHash, rootByInclusion } from "../fair/merkle";
import { isSigned, readCheckpoint, readKey } from "../fair/note";
import type { MatchCreated } from "../gen/grimoire/v1/match_pb";
import { LogLeafKind } from "../gen/grimoire/v1/transparency_pb";

/** What the server's public log says of what it promised this match; anything but `proved` is a lie. */
export type Promised = "proved" | "unsigned" | "not_included" | "other_promise" | "other_key" | "other_log";

/**
 * Sees for itself that the commitment shown here is in the server's transparency log, under the key and in the history
 * that this browser has known of it.
 *
 * @param createdMs server time of the match's first entry.
 * @throws what the call throws; `not_logged_yet` means: a little later.
 */
export async function promiseOf(matchId: string, created: MatchCreated, createdMs: number): Promise<Promised> {
  const answer = await transparency.getInclusion({
    by: { case: "name", value: { matchId, kind: LogLeafKind.COMMIT } },
  });
  const hasher = await bestHasher();
  const key = await readKey(hasher, answer.key);
  const head = readCheckpoint(answer.checkpoint);
  if (key === null || head === null || answer.leaf === undefined || !(await isSigned(hasher, head, key))) return "unsigned";
  const leaf = Uint8Array.from(answer.leaf.leaf);
  const path = answer.leaf.path.map((node) => Uint8Array.from(node));
  const root = await rootByInclusion(hasher, Number(answer.leaf.number), head.size, await leafHash(hasher, leaf), path);
  if (root === null || !same(root, head.root)) return "not_included";
  const { game, rulesDigest, serverCommitment } = created;
  const expected = lines("grimoire/log/commit/1", matchId, game, hex(rulesDigest), hex(serverCommitment), createdMs);
  if (fromUtf8(leaf) !== expected) return "other_promise";
  const known = knownLog();
  if (known !== null) {
    if (known.key !== key.line) return "other_key";
    const before = readCheckpoint(known.checkpoint);
    if (before !== null && before.size > 0) {
      const [small, large] = before.size <= head.size ? [before, head] : [head, before];
      const proof: Bytes[] =
        small.size === large.size
          ? []
          : (await transparency.getConsistency({ from: BigInt(small.size), to: BigInt(large.size) })).path.map((node) => Uint8Array.from(node));
      if (!(await isConsistent(hasher, small.size, large.size, small.root, large.root, proof))) return "other_log";
    }
  }
  keepLog({ key: key.line, checkpoint: Uint8Array.from(answer.checkpoint), size: head.size });
  return "proved";
}
