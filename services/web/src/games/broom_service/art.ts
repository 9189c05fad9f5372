import { ICONS } from "../../gen/icons_broom_service";

export type Picture = keyof typeof ICONS;

/** The path of a picture, in a box of 512. */
export function pathOf(name: Picture): string {
  return ICONS[name];
}

/** By what a landscape tile is known. */
export function tilePicture(tile: string): Picture {
  if (tile.startsWith("h_")) return tile === "h_vat" ? "vat" : "broom";
  const found: Readonly<Record<string, Picture>> = {
    m_potions: "potion",
    m_wands: "wand",
    m_deliver: "points",
    m_moves: "moves",
    m_dispel: "cloud",
    f_heart: "heart",
    f_card: "cards",
    f_five: "points",
  };
  return found[tile.replace(/_\d$/, "")] ?? "points";
}
