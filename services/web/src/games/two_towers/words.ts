import type { Words } from "../../api/manifest.svelte";
import type { HandSlot, SeatView, View } from "../../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { t } from "../../i18n/index.svelte";
import { reasonOf, seatName, termOf } from "../../play/sentence";
import type { Facts, Section } from "../module";

export const BUILDINGS = ["tower", "wall"] as const;
/** Each producer with the stock it fills. */
export const WORKS = [
  ["mines", "ore"],
  ["monasteries", "mana"],
  ["barracks", "recruits"],
] as const;

export type Stock = (typeof WORKS)[number][1];
export type NumberField = (typeof BUILDINGS)[number] | (typeof WORKS)[number][number];

export function numberOf(side: SeatView, field: NumberField): number {
  return side.numbers?.[field] ?? 0;
}

/** The card of a slot in the catalogue. */
export function cardOf(words: Words, id: string) {
  return words.manifest.catalogues.find((one) => one.name === "cards")?.items.find((item) => item.id === id) ?? null;
}

/** A card in one's hand, as a reader hears it. */
export function slotLabel(slot: HandSlot, words: Words): string {
  if (slot.card === "") return t("two_towers.empty_slot", { n: slot.slot + 1 });
  const card = cardOf(words, slot.card);
  const about = {
    n: slot.slot + 1,
    card: card?.name ?? slot.card,
    cost: slot.cost,
    resource: termOf(words, slot.resource),
    text: card?.text ?? "",
  };
  const state = slot.affordable ? t("two_towers.payable") : t("two_towers.short", { n: slot.shortfall });
  return `${t("two_towers.slot_label", about)} ${state}`;
}

/** A card that left a hand, in a sentence. */
export function shownLabel(seat: number, card: string, how: string, words: Words, names: readonly string[]): string {
  const about = { seat: seatName(names, seat), card: words.itemName("cards", card) ?? card };
  return t(`two_towers.shown.${how}`, about);
}

function sideItems(side: SeatView, view: View, words: Words): string[] {
  const items = BUILDINGS.map((field) =>
    t("two_towers.fact", { name: termOf(words, field), value: numberOf(side, field) }),
  );
  for (const [works, stock] of WORKS) {
    items.push(
      t("two_towers.stock_fact", {
        name: termOf(words, stock),
        value: numberOf(side, stock),
        works: termOf(words, works),
        gain: numberOf(side, works),
      }),
    );
  }
  items.push(t("two_towers.hand_count", { n: side.handCount }));
  if (view.timeoutLimit > 0) items.push(t("two_towers.timeouts", { n: side.timeouts, limit: view.timeoutLimit }));
  return items;
}

/** The whole view in words: what the picture shows, and nothing it does not. */
export function sections(view: View, words: Words, names: readonly string[], me: number | null): Section[] {
  const order = [...view.seats].sort((a, b) => (a.seat === me ? 1 : 0) - (b.seat === me ? 1 : 0));
  const parts: Section[] = [{ title: t("two_towers.battle"), items: battleItems(view, words, names) }];
  for (const side of order) {
    parts.push({ title: seatName(names, side.seat), items: sideItems(side, view, words) });
    if (side.hand.length > 0) {
      parts.push({
        title: t("two_towers.hand_of", { seat: seatName(names, side.seat) }),
        items: side.hand.map((slot) => slotLabel(slot, words)),
      });
    }
  }
  if (view.lastCards.length > 0) {
    parts.push({
      title: t("two_towers.last_cards"),
      items: view.lastCards.map((shown) => shownLabel(shown.seat, shown.card, shown.how, words, names)),
    });
  }
  if (view.discards.length > 0) {
    parts.push({
      title: t("two_towers.discards", { n: view.discards.length }),
      items: [view.discards.toReversed().map((card) => words.itemName("cards", card) ?? card).join(", ")],
    });
  }
  if (view.pile.length > 0) {
    const cards = view.pile.map((card) => words.itemName("cards", card) ?? card);
    parts.push({ title: termOf(words, "draw_pile"), items: [cards.join(", ")] });
  }
  return parts;
}

function battleItems(view: View, words: Words, names: readonly string[]): string[] {
  const items = [
    `${words.itemName("battlefields", view.battlefield) ?? view.battlefield}, ${termOf(words, view.deckType)}`,
    t("two_towers.goals", { tower: view.goalTower, resource: view.goalResource }),
    t("two_towers.turn", { n: view.turnNo, limit: view.turnLimit, seat: seatName(names, view.activeSeat) }),
    termOf(words, view.phase),
    t("two_towers.plays", { n: view.playsThisTurn, limit: view.playLimit }),
    t("two_towers.first", { seat: seatName(names, view.firstSeat) }),
  ];
  if (view.pileCount === undefined) items.push(t("two_towers.draws", { n: view.drawsMade }));
  else items.push(t("two_towers.pile", { n: view.pileCount, reshuffles: view.reshuffles }));
  if (view.arranged) items.push(t("two_towers.arranged"));
  if (view.result !== undefined) {
    const reasons = view.result.reasons.map((reason) => reasonOf(words, reason)).join(", ");
    const step = view.result.ladderStep === "" ? "" : ` (${reasonOf(words, `ladder.${view.result.ladderStep}`)})`;
    items.push(
      view.result.winner === undefined
        ? t("two_towers.drawn", { reasons })
        : t("two_towers.won", { seat: seatName(names, view.result.winner), reasons: reasons + step }),
    );
  }
  return items;
}

/** The situation in two sentences. */
export function situation(view: View, words: Words, names: readonly string[], me: number | null): string {
  const order = [...view.seats].sort((a, b) => (a.seat === me ? -1 : 0) - (b.seat === me ? -1 : 0));
  return order
    .map((side) =>
      t("two_towers.situation", {
        seat: seatName(names, side.seat),
        tower: numberOf(side, "tower"),
        goal: view.goalTower,
        wall: numberOf(side, "wall"),
        stocks: WORKS.map(([, stock]) => `${numberOf(side, stock)} ${termOf(words, stock)}`).join(", "),
      }),
    )
    .join(" ");
}

/** What a thing is: a card in full. */
export function inspect(ref: string, view: View, words: Words): Facts | null {
  const [kind, id = ""] = ref.split(":");
  const held = view.seats.flatMap((side) => side.hand);
  const slot = kind === "slot" ? held.find((one) => one.slot === Number(id)) : held.find((one) => one.card === id);
  const card = cardOf(words, kind === "card" ? id : (slot?.card ?? ""));
  if (card === null) return null;
  const facts = new Map(card.facts.map(({ name, value }) => [name, value]));
  const rows: [string, string][] = [
    [termOf(words, "cost"), `${facts.get("cost") ?? ""} ${termOf(words, facts.get("resource") ?? "")}`],
  ];
  if (kind === "slot" && slot !== undefined) {
    rows.push([termOf(words, "hand"), slot.affordable ? t("two_towers.payable") : t("two_towers.short", { n: slot.shortfall })]);
  }
  if (facts.get("act_again") === "true") rows.push(["↻", termOf(words, "act_again")]);
  return { title: card.name, text: card.text, rows, rules: card.rules };
}
