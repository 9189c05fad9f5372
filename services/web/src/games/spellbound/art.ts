import { ICONS } from "../../gen/icons_spellbound";

/** A witch's hat from the front. Our own drawing. */
export const HAT =
  "M316 34C276 60 214 176 172 322C198 336 228 342 258 342C290 342 322 336 348 322C338 256 328 168 330 110C352 104 366 84 364 62C352 44 336 36 316 34Z" +
  "M142 336C78 348 28 368 28 396C28 436 130 468 256 468C382 468 484 436 484 396C484 368 440 348 376 336C350 362 304 374 258 374C214 374 168 362 142 336Z";

/** The path of a card's picture, in a box of 512; null: it has none. */
export function pathOf(thing: string): string | null {
  if (thing.startsWith("witch_") || thing.startsWith("hat_")) return HAT;
  const icons = Object.entries(ICONS);
  const found = icons.find(([name]) => thing === name) ?? icons.find(([name]) => thing.startsWith(`${name}_`));
  return found?.[1] ?? null;
}
