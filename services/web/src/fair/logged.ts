/** Check 7: the match as the transparency log has it. */
import { type Bytes, fromUtf8, hex, lines, same, utf8 } from "./bytes";
import type { LeafRow, Shown } from "./checks";
import type { Evidence } from "./exportfile";
import type { Hasher } from "./hasher";
import { type Event, type Lie, type Log, outcomeOf } from "./log";
import { isConsistent, leafHash, rootByInclusion } from "./merkle";
import { type Checkpoint, isSigned, type LogKey, readCheckpoint, readKey } from "./note";

/** A signed head from elsewhere, with the proof that joins it to the file's own. */
export interface OtherHead {
  readonly checkpoint: Bytes;
  /** From the smaller of the two trees to the larger; null: no proof could be fetched. */
  readonly path: readonly Bytes[] | null;
}

/** What is known of the log beside the file. */
export interface Witness {
  /** The key as one line, known from elsewhere; a file signed with another one fails. */
  readonly key?: string;
  /** The newest head this browser has kept of this log. */
  readonly kept?: OtherHead;
  /** The newest head the server shows now; it must begin with the kept one. */
  readonly newest?: { readonly checkpoint: Bytes; readonly fromKept: readonly Bytes[] | null };
}

interface Outcome {
  readonly code: string;
  readonly args: Lie["args"];
  readonly shown: readonly Shown[];
  readonly lie: Lie | null;
  readonly open: { readonly code: string; readonly args: Lie["args"] } | null;
}

const KINDS = ["commit", "start", "close", "reveal"] as const;
type Kind = (typeof KINDS)[number];

export async function provedLog(hasher: Hasher, log: Log, evidence: Evidence, witness: Witness): Promise<Outcome> {
  const shown: Shown[] = [];
  const outcome = (code: string, args: Lie["args"] = {}): Outcome => ({ code, args, shown, lie: null, open: null });
  const lie = (code: string, version = 0, args: Lie["args"] = {}): Outcome => ({ ...outcome(code), lie: { code, version, args } });
  const open = (code: string, args: Lie["args"] = {}): Outcome => ({ ...outcome(code), open: { code, args } });

  const key = await readKey(hasher, evidence.key);
  if (key === null) return lie("key_unreadable");
  shown.push({ kind: "rows", rows: [["log_key", key.line], ["log_name", key.name]] });
  if (witness.key !== undefined && witness.key !== key.line) return lie("other_key", 0, { name: key.name });
  const head = readCheckpoint(evidence.checkpoint);
  if (head === null) return lie("checkpoint_unreadable");
  shown.push({ kind: "text", name: "checkpoint", text: fromUtf8(evidence.checkpoint) });
  if (!(await isSigned(hasher, head, key))) return lie("checkpoint_unsigned");

  const expected = expectedLeaves(log);
  const versions: Record<Kind, number> = {
    commit: log.created?.version ?? 0,
    start: log.started?.version ?? 0,
    close: log.ended?.version ?? 0,
    reveal: log.revealed?.version ?? 0,
  };
  const rows: LeafRow[] = [];
  shown.push({ kind: "leaves", rows });
  const found = new Set<Kind>();
  let last = -1;
  let lastKind = -1;
  let lastTime = 0;
  for (const leaf of evidence.leaves) {
    const read = readLeaf(leaf.leaf);
    if (read === null) return lie("leaf_unreadable");
    const hash = await leafHash(hasher, leaf.leaf);
    rows.push({ kind: read.kind, number: leaf.number, text: read.text, path: leaf.path.map(hex), hash: hex(hash) });
    if (leaf.path.some((node) => node.length !== 32)) return lie("leaf_unreadable");
    const root = await rootByInclusion(hasher, leaf.number, head.size, hash, leaf.path);
    if (root === null || !same(root, head.root)) return lie("leaf_not_included", versions[read.kind], { kind: read.kind });
    if (read.match !== log.matchId) return lie("leaf_other_match", versions[read.kind], { kind: read.kind });
    const place = KINDS.indexOf(read.kind);
    if (leaf.number <= last || place <= lastKind || read.time < lastTime) return lie("leaf_order", versions[read.kind], { kind: read.kind });
    last = leaf.number;
    lastKind = place;
    lastTime = read.time;
    found.add(read.kind);
    if (expected.get(read.kind) !== read.text) return lie("leaf_differs", versions[read.kind], { kind: read.kind });
  }
  const others = await otherHeads(hasher, key, head, witness, shown);
  if (others !== null) return lie(others);
  const missing = [...expected.keys()].filter((kind) => !found.has(kind));
  const args = { leaves: rows.length, size: head.size, name: key.name };
  if (missing.length > 0) {
    if (log.revealed === null) return open("logged_so_far", { ...args, missing: missing.join(", ") });
    return lie("leaf_missing", 0, { missing: missing.join(", ") });
  }
  if (log.revealed === null) return open("logged_so_far", { ...args, missing: "" });
  return outcome(witness.key === undefined ? "logged_unknown_key" : "logged_holds", args);
}

/** Every head this browser knows of must be of one and the same growing log. */
async function otherHeads(
  hasher: Hasher,
  key: LogKey,
  head: Checkpoint,
  { kept, newest }: Witness,
  shown: Shown[],
): Promise<string | null> {
  if (kept === undefined) return null;
  const before = readCheckpoint(kept.checkpoint);
  if (before === null || !(await isSigned(hasher, before, key))) return "kept_unsigned";
  shown.push({ kind: "text", name: "kept_checkpoint", text: fromUtf8(kept.checkpoint) });
  if (!(await joined(hasher, head, before, kept.path))) return "kept_differs";
  if (newest === undefined) return null;
  const now = readCheckpoint(newest.checkpoint);
  if (now === null || !(await isSigned(hasher, now, key))) return "newest_unsigned";
  shown.push({ kind: "text", name: "newest_checkpoint", text: fromUtf8(newest.checkpoint) });
  if (now.size < before.size) return "newest_older";
  return (await joined(hasher, before, now, newest.fromKept)) ? null : "newest_differs";
}

/** Without a proof only equal sizes can be compared; a proof that is missing proves nothing, and fails nothing. */
async function joined(hasher: Hasher, a: Checkpoint, b: Checkpoint, path: readonly Bytes[] | null): Promise<boolean> {
  if (a.size === b.size) return same(a.root, b.root);
  if (path === null) return true;
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  return isConsistent(hasher, small.size, large.size, small.root, large.root, path);
}

/** The leaves that the match's own log asks for. */
function expectedLeaves(log: Log): Map<Kind, string> {
  const at = (event: Event): number => log.entries.find((entry) => entry.version === event.version)?.time ?? 0;
  const hash = (event: Event): string => hex(log.raw[event.version - 1]?.hash ?? new Uint8Array(0));
  const { created, started, ended, revealed, matchId } = log;
  const leaves = new Map<Kind, string>();
  if (created !== null) {
    const { whole } = created;
    leaves.set("commit", lines("grimoire/log/commit/1", matchId, whole.text(1), hex(whole.bytes(3)), hex(whole.bytes(8)), at(created)));
  }
  if (started !== null) leaves.set("start", lines("grimoire/log/start/1", matchId, hash(started), at(started)));
  if (ended !== null) {
    leaves.set("close", lines("grimoire/log/close/1", matchId, outcomeOf(ended), ended.version, hash(ended), at(ended)));
  }
  if (revealed !== null) leaves.set("reveal", lines("grimoire/log/reveal/1", matchId, hash(revealed), at(revealed)));
  return leaves;
}

export interface ReadLeaf {
  readonly kind: Kind;
  readonly match: string;
  /** UTC milliseconds. */
  readonly time: number;
  readonly text: string;
  /** Commit leaves: the game. */
  readonly game: string;
  /** Close leaves: the outcome. */
  readonly outcome: string;
}

const LEAF =
  /^grimoire\/log\/(?:(commit)\/1\n([^\n]+)\n([^\n]+)\n[0-9a-f]{64}\n[0-9a-f]{64}|(start|reveal)\/1\n([^\n]+)\n[0-9a-f]{64}|(close)\/1\n([^\n]+)\n([a-z_]+)\n[1-9][0-9]*\n[0-9a-f]{64})\n(0|[1-9][0-9]*)\n$/;

/** A leaf of the log; null: it is not written in the one way it may be. */
export function readLeaf(leaf: Uint8Array): ReadLeaf | null {
  let text: string;
  try {
    text = fromUtf8(leaf);
  } catch {
    return null;
  }
  const found = LEAF.exec(text);
  if (found === null || !same(utf8(text), leaf)) return null;
  const [, commit, committed, game = "", point, pointed, , closed, outcome = "", time] = found;
  const match = committed ?? pointed ?? closed ?? "";
  const kind = (commit ?? point ?? "close") as Kind;
  return { kind, match, time: Number(time), text, game, outcome };
}
