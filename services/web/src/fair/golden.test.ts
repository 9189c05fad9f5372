import { readdirSync, readFileSync } from "node:fs";
import { join as under } from "node:path";
import { gunzipSync } from "node:zlib";

import { beforeAll, describe, expect, it } from "vitest";

import { type Bytes, join, utf8 } from "./bytes";
import { audit, type Check, type Options, unreadable } from "./checks";
import { type Entry, ExportError, type ExportFile, readExport } from "./exportfile";
import { edited, eventEdited, flipped, ForgedLog, leavesOf, rehashed, resalted, writeExport } from "./forge";
import { bestHasher, type Hasher, nobleHasher } from "./hasher";
import { readLog } from "./log";

const GOLDEN = under(process.cwd(), "../../tests/golden/two_towers");
const NAMES = readdirSync(GOLDEN).filter((name) => name.endsWith(".jsonl.gz"));
const load = (name: string): Bytes => Uint8Array.from(gunzipSync(readFileSync(under(GOLDEN, name))));

async function checksOf(file: Uint8Array, options: Partial<Options> & { hasher: Hasher }): Promise<Check[]> {
  const checks: Check[] = [];
  try {
    for await (const step of audit(readExport(file), options)) if ("status" in step) checks.push(step);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return unreadable(error.line, error.code);
  }
  return checks;
}

const failing = (checks: readonly Check[]): number[] => checks.filter((check) => check.status === "failed").map((check) => check.number);

describe("recorded matches", () => {
  for (const make of [bestHasher, nobleHasher]) {
    it.each(NAMES)(`%s holds (${make.name})`, async (name) => {
      const checks = await checksOf(load(name), { hasher: await make(), inLog: false });
      expect(failing(checks)).toEqual([]);
      expect(checks.slice(0, 6).map((check) => check.status)).toEqual(Array(6).fill("passed"));
    });
  }

  it("holds where seats were left, given to others and given back", async () => {
    const bytes = Uint8Array.from(gunzipSync(readFileSync(under(process.cwd(), "src/fair/changed_seats.jsonl.gz"))));
    const checks = await checksOf(bytes, { hasher: await bestHasher(), inLog: false });
    expect(failing(checks)).toEqual([]);
    expect(checks.slice(0, 6).map((check) => check.status)).toEqual(Array(6).fill("passed"));
  });

  it("writes back the very bytes it read", () => {
    const bytes = load("draw.jsonl.gz");
    expect(writeExport(readExport(bytes))).toEqual(bytes);
  });
});

describe("lies", () => {
  let hasher: Hasher;
  let log: ForgedLog;
  let good: ExportFile;
  let last: number;
  let deal: number;

  beforeAll(async () => {
    hasher = await bestHasher();
    log = await ForgedLog.open(hasher);
    const read = readExport(load("crystal_garden_standard.jsonl.gz"));
    log.add(utf8("before\n"));
    const leaves = leavesOf(read);
    log.add(leaves[0] as Bytes, utf8("between\n"), ...leaves.slice(1));
    good = { ...read, evidence: await log.evidence([1, 3, 4, 5]) };
    last = read.entries.length;
    deal = readLog(read.entries, read.matchId, read.game).started?.version ?? 0;
  });

  const change = (file: ExportFile, version: number, by: (entry: Entry) => Entry): ExportFile => ({
    ...file,
    entries: file.entries.map((entry, n) => (n === version - 1 ? by(entry) : entry)),
  });
  const part = (entry: Entry, audience: string, by: (body: Bytes) => Bytes): Entry => ({
    ...entry,
    parts: entry.parts.map((one) => (one.audience === audience ? { ...one, body: by(one.body) } : one)),
  });
  const reveal = (file: ExportFile, by: (body: Bytes) => Bytes): ExportFile =>
    change(file, last, (entry) => ({ ...entry, open: eventEdited(entry.open, "fairness_revealed", by) }));
  const bytes =
    (number: number, nth = 0) =>
    (body: Bytes): Bytes =>
      edited(body, number, (field) => ({ bytes: flipped(field.bytes) }), nth);

  async function expectLie(file: ExportFile | Bytes, number: number, code: string, version: number, options: Partial<Options> = {}): Promise<void> {
    const checks = await checksOf(file instanceof Uint8Array ? file : writeExport(file), { hasher, ...options });
    const found = checks.find((check) => check.number === number);
    expect(`${found?.status} ${found?.code} ${found?.version}`).toBe(`failed ${code} ${version}`);
    if (version > 0) expect(found?.line).toBe(version + 1);
  }

  it("holds before anything is touched", async () => {
    const checks = await checksOf(writeExport(good), { hasher, witness: { key: log.key } });
    expect(checks.map((check) => check.status)).toEqual([...Array(7).fill("passed"), "open"]);
  });

  it("another seed was promised", async () => {
    const lied = change(good, 1, (entry) => ({ ...entry, open: eventEdited(entry.open, "match_created", bytes(8)) }));
    await expectLie(await rehashed(hasher, lied), 1, "commitment_differs", last);
  });
  it("another seed is opened", async () => {
    const lied = reveal(good, bytes(1));
    await expectLie(await rehashed(hasher, lied), 1, "commitment_differs", last);
  });
  it("a false seed leaves no draw to trust", async () => {
    const checks = await checksOf(writeExport(await rehashed(hasher, reveal(good, bytes(1)))), { hasher });
    expect(checks.filter((check) => [4, 5].includes(check.number)).map((check) => check.code)).toEqual(["no_trusted_seed", "no_trusted_seed"]);
  });
  it("a seal was exchanged", async () => {
    const lied = change(good, 2, (entry) => ({ ...entry, open: eventEdited(entry.open, "nonce_sealed", bytes(2)) }));
    const seat = readLog(good.entries, good.matchId, good.game).entries[1]?.events[0]?.whole.uint(1);
    const opening = readLog(good.entries, good.matchId, good.game).entries.find((entry) =>
      entry.events.some((event) => event.type === "nonce_opened" && event.whole.uint(1) === seat),
    );
    await expectLie(await rehashed(hasher, lied), 2, "seal_differs", opening?.version ?? 0);
  });
  it("a nonce is shown that nobody opened", async () => {
    const lied = change(good, deal, (entry) => ({
      ...entry,
      open: eventEdited(entry.open, "nonces_revealed", (body) => edited(body, 1, (one) => ({ bytes: bytes(2)(one.bytes) }))),
    }));
    await expectLie(await rehashed(hasher, lied), 2, "nonce_differs", deal);
  });
  it("other nonces are revealed at the end", async () => {
    const lied = reveal(good, (body) => edited(body, 2, (one) => ({ bytes: bytes(2)(one.bytes) })));
    await expectLie(await rehashed(hasher, lied), 2, "revealed_nonces_differ", last);
  });
  it("the nonce is not the one this device kept", async () => {
    const kept = { seat: 0, nonce: "00".repeat(32), seal: "00".repeat(32), heads: [] };
    await expectLie(good, 2, "own_seal_differs", 2, { kept });
  });
  it("another joint seed is claimed", async () => {
    await expectLie(await rehashed(hasher, reveal(good, bytes(3))), 3, "joint_differs", last);
  });
  it("a draw was wished for", async () => {
    const lied = change(good, deal, (entry) =>
      part(entry, "command", (body) => {
        const draw = edited(body, 6, (one) => ({
          bytes: edited(one.bytes, 4, (results) => (results.type === 0 ? { value: 1n - results.value } : { bytes: flipped(results.bytes) })),
        }));
        return draw;
      }),
    );
    await expectLie(await rehashed(hasher, lied), 4, "draw_differs", deal);
  });
  it("a draw is repeated under its label", async () => {
    const source = good.entries[deal - 1]?.parts.find((one) => one.audience === "command")?.body as Bytes;
    const draws = source.subarray(0);
    const lied = change(good, deal + 1, (entry) => part(entry, "command", () => draws));
    await expectLie(await rehashed(hasher, lied), 4, "label_twice", deal + 1);
  });
  it("other cards lie in the deal", async () => {
    const lied = change(good, deal, (entry) =>
      part(entry, "sealed", (body) => {
        const index = readLog(good.entries, good.matchId, good.game).entries[deal - 1]?.events.findIndex((event) => event.type === "match_started");
        expect(index).toBeGreaterThan(0);
        return edited(body, 1, (piece) => ({ bytes: edited(piece.bytes, 2, ({ bytes: fields }) => ({ bytes: bytes(2, 2)(fields) })) }));
      }),
    );
    await expectLie(await rehashed(hasher, lied), 5, "deal_differs", deal);
  });
  it("another salt is claimed", async () => {
    await expectLie(await rehashed(hasher, reveal(good, bytes(4))), 5, "salt_differs", last);
  });
  it("one bit of an entry", async () => {
    await expectLie(change(good, 9, (entry) => ({ ...entry, header: edited(entry.header, 3, ({ value }) => ({ value: value + 1n })) })), 6, "hash_differs", 9);
  });
  it("an entry is removed", async () => {
    const entries = good.entries.filter((_, n) => n !== 9);
    await expectLie({ ...good, entries }, 6, "version_gap", 10);
  });
  it("two entries are swapped", async () => {
    const entries = [...good.entries];
    [entries[7], entries[8]] = [entries[8] as Entry, entries[7] as Entry];
    await expectLie({ ...good, entries }, 6, "version_gap", 8);
  });
  it("an entry is put in twice", async () => {
    const entries = [...good.entries.slice(0, 12), good.entries[11] as Entry, ...good.entries.slice(12)];
    await expectLie(await rehashed(hasher, { ...good, entries }), 6, "version_gap", 13);
  });
  it("a hidden part is exchanged", async () => {
    const lied = change(good, deal, (entry) => part(entry, "seat/0", (body) => join(body, Uint8Array.of(0x78, 0))));
    await expectLie(lied, 6, "part_differs", deal);
  });
  it("salts follow from another seed", async () => {
    await expectLie(await rehashed(hasher, await resalted(hasher, good, new Uint8Array(32))), 6, "part_salt_differs", 1);
  });
  it("the time goes back", async () => {
    const lied = change(good, 14, (entry) => ({ ...entry, header: edited(entry.header, 3, () => ({ value: 5n })) }));
    await expectLie(await rehashed(hasher, lied), 6, "time_back", 14);
  });
  it("something follows the end", async () => {
    const extra = good.entries[last - 2] as Entry;
    const later = edited(extra.header, 3, () => ({ value: 2n ** 42n }));
    const other = edited(later, 4, ({ bytes: id }) => ({ bytes: flipped(id) }));
    const header = edited(other, 2, () => ({ value: BigInt(last + 1) }));
    const entries = [...good.entries, { ...extra, header }];
    await expectLie(await rehashed(hasher, { ...good, entries }), 6, "after_reveal", last + 1);
  });
  it("the end line names another head", async () => {
    const checks = await checksOf(writeExport({ ...good, head: flipped(good.head) }), { hasher });
    expect(checks[5]).toMatchObject({ status: "failed", code: "other_head", line: last + 3 });
  });
  it("a part stays closed", async () => {
    const lied = change(good, 11, (entry) => ({ ...entry, parts: [] }));
    await expectLie(lied, 6, "part_closed", 11);
    await expectLie(lied, 4, "record_closed", 11);
  });
  it("a head this browser saw is gone", async () => {
    const log0 = readLog(good.entries, good.matchId, good.game);
    const sealed = log0.entries[1]?.events[0]?.whole;
    const nonce = log0.nonces?.whole.messages(1).find((one) => one.uint(1) === sealed?.uint(1))?.bytes(2);
    const digits = (data: Bytes | undefined): string => Array.from(data ?? [], (byte) => byte.toString(16).padStart(2, "0")).join("");
    const kept = { seat: sealed?.uint(1) ?? 0, nonce: digits(nonce), seal: digits(sealed?.bytes(2)), heads: [{ version: 0, hash: "ab".repeat(32) }] };
    await expectLie(good, 6, "own_head_missing", 0, { kept });
    const checks = await checksOf(writeExport(good), { hasher, kept: { ...kept, heads: [] } });
    expect(failing(checks)).toEqual([]);
  });
  it("a line is written in another way", async () => {
    const text = new TextDecoder().decode(writeExport(good)).split("\n");
    text[4] = (text[4] ?? "").replace('{"kind":', '{ "kind":');
    const checks = await checksOf(utf8(text.join("\n")), { hasher });
    expect(checks[5]).toMatchObject({ status: "failed", code: "file_unreadable", line: 5 });
  });
  it("the file is cut off", async () => {
    const whole = writeExport(good);
    const checks = await checksOf(whole.slice(0, whole.length - 40), { hasher });
    expect(checks[5]).toMatchObject({ code: "file_unreadable", args: { fault: "cut_off" }, line: last + 3 });
  });
  it("there are no proofs", async () => {
    await expectLie({ ...good, evidence: null }, 7, "no_proofs", 0);
  });
  it("the head is of another tree", async () => {
    const evidence = good.evidence;
    if (evidence === null) throw new Error("no evidence");
    await expectLie({ ...good, evidence: { ...evidence, checkpoint: await log.checkpoint(5) } }, 7, "leaf_not_included", 1);
  });
  it("the signature is another's", async () => {
    const other = await ForgedLog.open(hasher, new Uint8Array(32).fill(9));
    other.add(...leavesOf(good));
    const evidence = await other.evidence([0, 1, 2, 3]);
    await expectLie({ ...good, evidence: { ...evidence, key: log.key } }, 7, "checkpoint_unsigned", 0);
    await expectLie({ ...good, evidence }, 7, "other_key", 0, { witness: { key: log.key } });
  });
  it("the log holds another end", async () => {
    const other = await ForgedLog.open(hasher);
    const leaves = leavesOf(good);
    leaves[2] = utf8(new TextDecoder().decode(leaves[2]).replace("\nwin\n", "\ndraw\n"));
    other.add(...leaves);
    await expectLie({ ...good, evidence: await other.evidence([0, 1, 2, 3]) }, 7, "leaf_differs", last);
    await expectLie({ ...good, evidence: await other.evidence([0, 1, 3]) }, 7, "leaf_missing", 0);
    await expectLie({ ...good, evidence: await log.evidence([1, 4, 3, 5]) }, 7, "leaf_order", deal);
  });
  it("the tree this browser has seen was another", async () => {
    const fork = await ForgedLog.open(hasher);
    fork.add(...Array.from({ length: log.size }, (_, n) => utf8(`fork ${n}\n`)));
    const witness = { key: log.key, kept: { checkpoint: await fork.checkpoint(), path: [] } };
    await expectLie(good, 7, "kept_differs", 0, { witness });
  });
  it("the server shows an older tree than before, or one that was rewritten", async () => {
    const grown = await ForgedLog.open(hasher);
    grown.add(utf8("before\n"));
    const leaves = leavesOf(good);
    grown.add(leaves[0] as Bytes, utf8("between\n"), ...leaves.slice(1));
    const size = grown.size;
    grown.add(utf8("later\n"), utf8("still later\n"));
    const kept = { checkpoint: await grown.checkpoint(), path: await grown.consistency(size) };
    const older = { checkpoint: await log.checkpoint(), fromKept: await grown.consistency(size) };
    await expectLie(good, 7, "newest_older", 0, { witness: { key: log.key, kept, newest: older } });
    const same = { checkpoint: await grown.checkpoint(), fromKept: [] };
    const fair = await checksOf(writeExport(good), { hasher, witness: { key: log.key, kept, newest: same } });
    expect(failing(fair)).toEqual([]);
    const badPath = { ...kept, path: kept.path.map(flipped) };
    await expectLie(good, 7, "kept_differs", 0, { witness: { key: log.key, kept: badPath } });
  });
});
