import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { hex, unhex } from "../api/ids";
import { type ViewerEntry, ViewerEntrySchema } from "../gen/grimoire/v1/frame_pb";
import { EntryHeaderSchema, EventsSchema } from "../gen/grimoire/v1/match_pb";
import { Chain, chainStart } from "./chain";
import { concat, lengthFirst, nonceFromPhrase, nonceSeal, sha256 } from "./hash";

const utf8 = new TextEncoder();

/** Entries as a server would send them, computed here a second time from the specification. */
export async function entriesOf(matchId: string, count: number): Promise<ViewerEntry[]> {
  let head = await chainStart(matchId);
  const entries: ViewerEntry[] = [];
  for (let n = 1; n <= count; n += 1) {
    const header = toBinary(EntryHeaderSchema, create(EntryHeaderSchema, { matchId, version: BigInt(n), serverTimeMs: BigInt(n * 1000) }));
    const body = toBinary(EventsSchema, create(EventsSchema, { events: [{ type: "turn_started" }] }));
    const part = { audience: "seat/0", salt: new Uint8Array(16).fill(n), body: utf8.encode("ruby") };
    const digest = await sha256(
      concat(utf8.encode("grimoire/part/1\n"), lengthFirst(utf8.encode(part.audience)), lengthFirst(part.salt), lengthFirst(part.body)),
    );
    head = await sha256(
      concat(utf8.encode("grimoire/event/1\n"), head, lengthFirst(header), await sha256(body), lengthFirst(utf8.encode(part.audience)), digest),
    );
    entries.push(create(ViewerEntrySchema, { header, public: body, parts: [part], digests: [{ audience: part.audience, digest }], hash: head }));
  }
  return entries;
}

describe("the published vectors", () => {
  it("gives the seals, the phrase and the first hash", async () => {
    expect(hex(await nonceSeal("two_towers", "tt-vector-1", 0, new Uint8Array(32).fill(0x11)))).toBe(
      "2b09ac24ecac9e389b043a498e576cc3b1da140e9ffc2ebcc3dfe03636f887d5",
    );
    expect(hex(await nonceSeal("two_towers", "tt-vector-1", 1, new Uint8Array(32).fill(0x22)))).toBe(
      "4e078de40d5f572718e222ab90341a86eeefe48ff93ff581d7243550ab4b4783",
    );
    expect(hex(await nonceFromPhrase(new Uint8Array(32).fill(0x33), "open sesame")).slice(0, 16)).toBe(
      "bd143ad67e4c8733",
    );
    expect(hex(await chainStart("tt-vector-1"))).toBe("522216945be1987cbfadf1e5bd833d2e35677b3303efc52ea6a1e68a84ce6e04");
  });

  it("gives the digest of the part `ruby`", async () => {
    const digest = await sha256(
      concat(
        utf8.encode("grimoire/part/1\n"),
        lengthFirst(utf8.encode("seat/0")),
        lengthFirst(unhex("57fa197d586e206670cabe5fef95985f")),
        lengthFirst(utf8.encode("ruby")),
      ),
    );
    expect(hex(digest)).toBe("6dd8d83a7c620afd15e0a22d523aa3f93b4939e5a9cf35f57be76ccc5027cb4d");
  });

  it("hashes without `crypto.subtle` as with it", async () => {
    const own = Object.getOwnPropertyDescriptor(crypto, "subtle");
    const with_ = hex(await sha256(utf8.encode("grimoire")));
    Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
    try {
      expect(hex(await sha256(utf8.encode("grimoire")))).toBe(with_);
    } finally {
      if (own === undefined) delete (crypto as { subtle?: unknown }).subtle;
      else Object.defineProperty(crypto, "subtle", own);
    }
  });
});

describe("the chain, followed live", () => {
  it("takes entries that follow, one after the other", async () => {
    const entries = await entriesOf("m1", 3);
    const chain = new Chain("m1");
    for (const entry of entries) await chain.feed(entry);
    expect(chain.version).toBe(3);
    expect(hex(chain.head)).toBe(hex(entries[2]?.hash ?? new Uint8Array()));
  });

  it.each([
    ["a changed event", (e: ViewerEntry) => void (e.public = utf8.encode("x")), "hash"],
    ["another hidden card", (e: ViewerEntry) => e.parts.forEach((part) => (part.body = utf8.encode("opal"))), "part"],
    ["a part nobody told of", (e: ViewerEntry) => void (e.digests = []), "part"],
    ["a header of another match", (e: ViewerEntry) => void (e.header = toBinary(EntryHeaderSchema, create(EntryHeaderSchema, { matchId: "m2", version: 2n }))), "match"],
    ["a version left out", (e: ViewerEntry) => void (e.header = toBinary(EntryHeaderSchema, create(EntryHeaderSchema, { matchId: "m1", version: 3n }))), "version"],
  ])("breaks at %s", async (_, change, reason) => {
    const entries = await entriesOf("m1", 2);
    const chain = new Chain("m1");
    await chain.feed(entries[0] as ViewerEntry);
    change(entries[1] as ViewerEntry);
    await expect(chain.feed(entries[1] as ViewerEntry)).rejects.toMatchObject({ version: 2, reason });
    expect(chain.version).toBe(1);
  });
});
