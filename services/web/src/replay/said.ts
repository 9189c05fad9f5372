import type { Words } from "../api/manifest.svelte";
import { ActorKind } from "../gen/grimoire/v1/match_pb";
import type { ReplayFrame } from "../gen/grimoire/v1/rules_pb";
import type { Happened } from "../match/entries";
import { eventSentence } from "../play/sentence";

/** Who acted; null: the clock or the host. */
export function seatActing(frame: ReplayFrame): number | null {
  return frame.actor === ActorKind.SEAT ? frame.seat : null;
}

/** What had happened up to a version, as far as it was fetched. */
export function logUntil(frames: ReadonlyMap<number, ReplayFrame>, version: number): Happened[] {
  return [...frames.values()]
    .filter((frame) => Number(frame.version) <= version)
    .sort((one, other) => Number(one.version - other.version))
    .map((frame) => ({ version: Number(frame.version), seat: seatActing(frame), events: frame.events }));
}

/** What happened in an entry, in words. */
export function sentencesOf(frame: ReplayFrame, words: Words, names: readonly string[]): string[] {
  return frame.events.map((event) => eventSentence(words, words.manifest.game, event, names)).filter((text) => text !== "");
}
