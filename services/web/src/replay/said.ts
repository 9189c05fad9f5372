import type { Words } from "../api/manifest.svelte";
import { ActorKind } from "../gen/grimoire/v1/match_pb";
import type { ReplayFrame } from "../gen/grimoire/v1/rules_pb";
import type { Happened } from "../match/entries";
import { eventLang, eventSentence } from "../play/sentence";
import type { Told } from "../play/told";

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

/** What happened in an entry, in words: the game's are in its language, the platform's in the page's. */
export function toldOf(frame: ReplayFrame, words: Words, names: readonly string[]): Told[] {
  const { game } = words.manifest;
  return frame.events
    .map((event) => ({ text: eventSentence(words, game, event, names), lang: eventLang(words, game, event) }))
    .filter(({ text }) => text !== "");
}
