/** Games that this page can draw, in the order in which it offers them; all that the lobby need know of them. */
export const PICTURED = ["two_towers", "wizards_garden", "spellbound", "broom_service"] as const;
