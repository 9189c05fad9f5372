import type { Words } from "../api/manifest.svelte";
import { ActorKind } from "../gen/grimoire/v1/match_pb";
import type { ReplayFrame } from "../gen/grimoire/v1/rules_pb";
import { eventSentence } from "../play/sentence";

/** Who acted; null: the clock or the host. */
export function seatActing(frame: ReplayFrame): number | null {
  return frame.actor === ActorKind.SEAT ? frame.seat : null;
}

/** What happened in an entry, in words. */
export function sentencesOf(frame: ReplayFrame, words: Words, names: readonly string[]): string[] {
  return frame.events.map((event) => eventSentence(words, words.manifest.game, event, names)).filter((text) => text !== "");
}
