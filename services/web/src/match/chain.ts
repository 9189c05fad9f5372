import { fromBinary } from "@bufbuild/protobuf";

import { hex, sameBytes } from "../api/ids";
import type { ViewerEntry } from "../gen/grimoire/v1/frame_pb";
import { EntryHeaderSchema } from "../gen/grimoire/v1/match_pb";
import { concat, lengthFirst, lines, sha256 } from "./hash";

const utf8 = new TextEncoder();
const ENTRY = utf8.encode("grimoire/event/1\n");
const PART = utf8.encode("grimoire/part/1\n");

/** Why an entry cannot follow those before it. */
export type Break = "match" | "version" | "part" | "order" | "hash";

/** An entry that does not follow from those before it. */
export class ChainBroken extends Error {
  constructor(
    readonly version: number,
    readonly reason: Break,
  ) {
    super(`entry ${version}: ${reason}`);
  }
}

/** hash_0 of a match, before its first entry. */
export function chainStart(matchId: string): Promise<Uint8Array<ArrayBuffer>> {
  return sha256(lines("grimoire/chain/1", matchId));
}

/** A match's chain of hashes, followed while it runs: hidden parts by their digests, own parts by their bytes. */
export class Chain {
  readonly matchId: string;
  version = 0;
  head: Uint8Array<ArrayBufferLike> = new Uint8Array();

  constructor(matchId: string) {
    this.matchId = matchId;
  }

  /**
   * Checks the next entry.
   *
   * @throws ChainBroken if it does not follow from those before.
   */
  async feed(entry: ViewerEntry): Promise<void> {
    if (this.version === 0) this.head = await chainStart(this.matchId);
    const next = this.version + 1;
    const header = fromBinary(EntryHeaderSchema, entry.header);
    if (header.matchId !== this.matchId) throw new ChainBroken(next, "match");
    if (Number(header.version) !== next) throw new ChainBroken(next, "version");
    for (const part of entry.parts) {
      const told = entry.digests.find((digest) => digest.audience === part.audience)?.digest;
      const digest = await sha256(
        concat(PART, lengthFirst(utf8.encode(part.audience)), lengthFirst(part.salt), lengthFirst(part.body)),
      );
      if (told === undefined || !sameBytes(told, digest)) throw new ChainBroken(next, "part");
    }
    const pieces: Uint8Array<ArrayBufferLike>[] = [];
    let before = "";
    for (const { audience, digest } of entry.digests) {
      // Audiences are ASCII, whose byte order is the order of strings.
      if (audience <= before || digest.length !== 32) throw new ChainBroken(next, "order");
      before = audience;
      pieces.push(lengthFirst(utf8.encode(audience)), digest);
    }
    const hash = await sha256(
      concat(ENTRY, this.head, lengthFirst(entry.header), await sha256(entry.public), ...pieces),
    );
    if (!sameBytes(hash, entry.hash)) throw new ChainBroken(next, "hash");
    this.version = next;
    this.head = hash;
  }

  /** Begins in the middle, at an entry that nobody here has checked. */
  jump(version: number, head: Uint8Array<ArrayBufferLike>): void {
    this.version = version;
    this.head = head;
  }
}

/** The beginning of a digest, for people. */
export function short(digest: Uint8Array): string {
  return [0, 2, 4].map((n) => hex(digest.subarray(n, n + 2))).join(" ");
}
