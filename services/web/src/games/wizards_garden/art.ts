import { ICONS } from "../../gen/icons_wizards_garden";

export type Picture = keyof typeof ICONS | "gnome";

/** A gnome from the front: hat, face, beard. Our own drawing. */
export const GNOME =
  "M262 22C300 62 352 150 368 226C384 234 396 246 396 258C396 276 334 290 256 290C178 290 116 276 116 258C116 246 128 234 144 226C160 160 196 76 262 22Z" +
  "M158 300C186 308 220 312 256 312C292 312 326 308 354 300C356 310 358 320 358 330C340 338 316 334 300 344C312 350 318 362 312 372C300 362 280 358 256 372C232 358 212 362 200 372C194 362 200 350 212 344C196 334 172 338 154 330C154 320 156 310 158 300Z" +
  "M148 350C166 360 184 360 196 366C190 386 206 398 222 392C236 388 246 382 256 382C266 382 276 388 290 392C306 398 322 386 316 366C328 360 346 360 364 350C372 420 330 474 256 494C182 474 140 420 148 350Z";

/** The path of a picture, in a box of 512. */
export function pathOf(name: Picture): string {
  return name === "gnome" ? GNOME : ICONS[name];
}

/** A picture of what has one by this name. */
export function pictureOf(name: string): Picture | null {
  return name === "gnome" || name in ICONS ? (name as Picture) : null;
}
