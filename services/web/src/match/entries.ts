import { create, type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";

import type { ViewerEntry } from "../gen/grimoire/v1/frame_pb";
import {
  ActorKind,
  EntryHeaderSchema,
  type Event,
  EventSchema,
  EventsSchema,
  PartEventsSchema,
} from "../gen/grimoire/v1/match_pb";
import { hex } from "../api/ids";
import { concat } from "./hash";

/** Everything one accepted command did, as far as this viewer may see it. */
export interface Entry {
  readonly version: number;
  readonly timeMs: number;
  /** Hexadecimal. */
  readonly commandId: string;
  /** Who acted; null: the clock or the host. */
  readonly seat: number | null;
  readonly events: readonly Event[];
  /** The same events as everybody sees them. */
  readonly open: readonly Event[];
  readonly hash: Uint8Array<ArrayBufferLike>;
}

/** What of an entry tells what happened. */
export type Happened = Pick<Entry, "version" | "seat" | "events">;

/** An entry with the fields of its opened parts put back in their events, without knowing any game. */
export function readEntry(raw: ViewerEntry): Entry {
  const header = fromBinary(EntryHeaderSchema, raw.header);
  const events = fromBinary(EventsSchema, raw.public).events;
  const extra = new Map<number, Uint8Array<ArrayBufferLike>[]>();
  for (const part of [...raw.parts].sort((a, b) => (a.audience < b.audience ? -1 : 1))) {
    if (part.audience === "command") continue;
    for (const piece of fromBinary(PartEventsSchema, part.body).events) {
      extra.set(piece.index, [...(extra.get(piece.index) ?? []), piece.body]);
    }
  }
  return {
    version: Number(header.version),
    timeMs: Number(header.serverTimeMs),
    commandId: hex(header.commandId),
    seat: header.actor === ActorKind.SEAT ? header.seat : null,
    events: events.map((event, n) => {
      const more = extra.get(n);
      // Messages put one after the other parse as one with the fields of both.
      return more === undefined ? event : create(EventSchema, { type: event.type, body: concat(event.body, ...more) });
    }),
    open: events,
    hash: raw.hash,
  };
}

/** All events of a code in these entries, parsed. */
export function eventsOf<D extends DescMessage>(entries: readonly Entry[], type: string, schema: D): MessageShape<D>[] {
  return entries.flatMap((entry) =>
    entry.events.filter((event) => event.type === type).map((event) => fromBinary(schema, event.body)),
  );
}
