import type { Words } from "../../api/manifest.svelte";
import type { Action, Battle, Pending, SeatView, View } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import { t } from "../../i18n/index.svelte";
import { reasonOf, seatName, termOf } from "../../play/sentence";
import type { Facts, Section } from "../module";
import { type Cell, cellsOf, KINDS, kindOf, seatsFrom, standing, type Threat, threatsOf } from "./picture";

type Names = readonly string[];

const COLOURS = ["blue", "red"] as const;

export function colourOf(seat: number): "blue" | "red" {
  return COLOURS[seat] ?? "blue";
}

// ---- names -----------------------------------------------------------------------------------------------------------

/** An item of one of the game's catalogues. */
export function itemOf(words: Words, catalogue: string, id: string) {
  return words.manifest.catalogues.find((one) => one.name === catalogue)?.items.find((item) => item.id === id) ?? null;
}

export function spellName(words: Words, spell: string): string {
  return words.itemName("spells", spell) ?? spell;
}

/** A spirit card is called by its kind: ten of them are alike. */
export function cardName(words: Words, card: string): string {
  return words.itemName("cards", card) ?? kindName(words, kindOf(card));
}

export function kindName(words: Words, kind: string): string {
  return termOf(words, kind);
}

export function lanternName(words: Words, kind: string): string {
  return words.say(TemplateKind.EVENT, `name.${kind}`);
}

function list(words: Words, cards: readonly string[]): string {
  return cards.length === 0 ? t("wizards_garden.none") : cards.map((card) => cardName(words, card)).join(", ");
}

function actionName(words: Words, kind: string, steps: number): string {
  return words.say(TemplateKind.EVENT, `action.${kind}.${steps}`);
}

function sourceName(words: Words, source: string): string {
  return words.say(TemplateKind.EVENT, `source.${source}`);
}

/** Pieces by where they stand, which is what tells them apart. */
function pieceNames(pieces: readonly string[], words: Words, at?: ReadonlyMap<string, string>): string {
  const names = pieces.map((piece) => {
    const where = at?.get(piece);
    const what = words.itemName("pieces", piece) ?? piece;
    return where === undefined ? what : `${what} (${where})`;
  });
  return names.join(", ");
}

// ---- the yard --------------------------------------------------------------------------------------------------------

/** Who threatens. */
export function threatBy({ pests, gnome }: Threat, words: Words): string {
  return pieceNames([...pests, ...(gnome === "" ? [] : [gnome])], words);
}

/** A threat in words. */
export function threatLabel(threat: Threat, words: Words): string {
  const parts = [t("wizards_garden.threat", { origin: threat.origin, target: threat.target, by: threatBy(threat, words) })];
  if (threat.strength > 0) parts.push(t("wizards_garden.strength", { n: threat.strength }));
  if (threat.inTransit) parts.push(t("wizards_garden.transit"));
  return parts.join(", ");
}

function groundOf(cell: Cell): string {
  if (cell.terrace === null) return t(`wizards_garden.space.${cell.kind}`);
  return t(cell.deposit ? "wizards_garden.space.terrace_deposit" : "wizards_garden.space.terrace", { colour: colourOf(cell.terrace) });
}

/** What is on a space; empty: nothing. */
function contents(cell: Cell, words: Words, names: Names): string[] {
  const parts: string[] = [];
  if (cell.gnome !== null) {
    const { id, lantern, bright } = cell.gnome;
    parts.push(pieceNames([id], words));
    if (lantern !== "") parts.push(t("wizards_garden.lantern_state", { state: bright ? "bright" : "dim", lantern: lanternName(words, lantern) }));
    if (cell.pests.length > 0) parts.push(t("wizards_garden.possessed", { pest: pieceNames(cell.pests, words) }));
  } else if (cell.pests.length > 0) parts.push(pieceNames(cell.pests, words));
  if (cell.fish > 0) parts.push(t("wizards_garden.fish", { n: cell.fish }));
  if (cell.water > 0) parts.push(t("wizards_garden.water", { n: cell.water }));
  if (cell.holder !== null) parts.push(t("wizards_garden.held", { seat: seatName(names, cell.holder) }));
  return parts;
}

/** A space as a reader hears it. */
export function cellLabel(cell: Cell, words: Words, names: Names): string {
  const inside = contents(cell, words, names);
  if (inside.length === 0 && cell.kind !== "pit") inside.push(t("wizards_garden.free"));
  const threats = cell.threats.map((threat) => {
    const by = [threatBy(threat, words), ...(threat.inTransit ? [t("wizards_garden.transit")] : [])].join(", ");
    return t("wizards_garden.threatened", { origin: threat.origin, by });
  });
  return [cell.id, groundOf(cell), ...inside, ...threats].join(", ");
}

// ---- a side ----------------------------------------------------------------------------------------------------------

export function slotLabel(slot: number, card: string, words: Words): string {
  return t("wizards_garden.slot", { n: String(slot), card: cardName(words, card) });
}

/** A lantern of a seat, by the state that the view gives it. */
export function lanternLabel(kind: string, state: string, space: string, words: Words): string {
  const about = { lantern: lanternName(words, kind), state, space };
  return space === "" ? t("wizards_garden.lantern_on", about) : t("wizards_garden.lantern_at", about);
}

function sideItems(side: SeatView, words: Words): string[] {
  const items = [t("wizards_garden.lanterns_of", { n: side.lanternsInYard, bright: side.brightInYard })];
  for (const { kind, state, space } of side.lanterns) items.push(lanternLabel(kind, state, space, words));
  items.push(t("wizards_garden.fire_of", { n: side.fire }));
  if (side.spirits.length === 0) items.push(t("wizards_garden.no_spirits"));
  else items.push(...side.spirits.map((card, slot) => slotLabel(slot, card, words)));
  items.push(t("wizards_garden.hand_count", { n: side.handCount }));
  if (side.hand.length > 0) items.push(t("wizards_garden.hand_cards", { cards: list(words, side.hand) }));
  items.push(t("wizards_garden.spell_count", { n: side.spellCount }));
  items.push(...side.spells.map((spell) => `${spellName(words, spell)}: ${itemOf(words, "spells", spell)?.text ?? ""}`));
  items.push(t("wizards_garden.gnomes_left", { n: side.gnomesInSupply }));
  return items;
}

// ---- the course of the match -----------------------------------------------------------------------------------------

/** The action that is under way. */
function actionText(action: Action, words: Words, at: ReadonlyMap<string, string>): string {
  if (action.gnome !== "") {
    return t("wizards_garden.action_doll", { gnome: pieceNames([action.gnome], words, at), left: action.stepsLeft });
  }
  const what = action.source === "butterfly" ? words.say(TemplateKind.EVENT, "action.butterfly") : actionName(words, action.kind, action.steps);
  return t("wizards_garden.action", { source: sourceName(words, action.source), action: what, left: action.stepsLeft, n: action.steps });
}

/** Actions of a spell that may still be started. */
function pendingText(source: string, pending: readonly Pending[], words: Words): string {
  const actions = pending.map(({ kind, steps }) => actionName(words, kind, steps)).join("; ");
  return t("wizards_garden.pending", { source: sourceName(words, source), actions });
}

/** What is under way: a battle, an action, actions to be started; empty: nothing is. */
export function underWay(view: View, words: Words, names: Names): string {
  const at = standing(view);
  if (view.battle !== undefined) return battleTexts(view.battle, words, names, at).join("; ");
  if (view.action !== undefined) return actionText(view.action, words, at);
  return view.pending.length > 0 ? pendingText(view.pendingSource, view.pending, words) : "";
}

/** The battle that is under way, sentence by sentence. */
function battleTexts(battle: Battle, words: Words, names: Names, at: ReadonlyMap<string, string>): string[] {
  const items = [t("wizards_garden.battle_of", { seat: seatName(names, battle.seat), target: battle.target, n: battle.strength })];
  items.push(battle.group === "skull" ? spellName(words, "skull") : t("wizards_garden.battle_group", { group: battle.group }));
  if (battle.fire > 0) items.push(t("wizards_garden.battle_fire", { n: battle.fire }));
  items.push(t("wizards_garden.battle_awaits", { awaits: battle.awaits, lantern: battle.kind === "" ? "" : lanternName(words, battle.kind) }));
  if (battle.survivors.length > 0) items.push(t("wizards_garden.battle_survivors", { pieces: pieceNames(battle.survivors, words, at) }));
  if (battle.inTransit) items.push(t("wizards_garden.battle_transit"));
  return items;
}

function courseItems(view: View, words: Words, names: Names): string[] {
  const at = standing(view);
  const items = [
    view.turnNo === 0
      ? t("wizards_garden.before", { seat: seatName(names, view.activeSeat) })
      : t("wizards_garden.turn", { n: view.turnNo, limit: view.turnLimit, seat: seatName(names, view.activeSeat) }),
    t("wizards_garden.turn_first", { seat: seatName(names, view.firstSeat) }),
    t("wizards_garden.phase", { phase: termOf(words, view.phase) }),
  ];
  if (view.state !== view.phase) items.push(t("wizards_garden.state", { state: termOf(words, view.state) }));
  if (view.askedSeat !== undefined) items.push(t("wizards_garden.asked", { seat: seatName(names, view.askedSeat) }));
  if (view.wizardReplaced) items.push(t("wizards_garden.replaced"));
  if (view.action !== undefined) {
    items.push(actionText(view.action, words, at));
    if (view.action.moved.length > 0) items.push(t("wizards_garden.moved", { pieces: pieceNames(view.action.moved, words, at) }));
  }
  if (view.pending.length > 0) items.push(pendingText(view.pendingSource, view.pending, words));
  if (view.battle !== undefined) items.push(...battleTexts(view.battle, words, names, at));
  items.push(t("wizards_garden.dealt", { n: view.spellsPerPlayer }));
  if (view.arranged) items.push(t("wizards_garden.arranged"));
  if (view.result !== undefined) {
    const reason = reasonOf(words, view.result.reason);
    items.push(
      view.result.winner === undefined
        ? t("wizards_garden.drawn", { reason })
        : t("wizards_garden.won", { seat: seatName(names, view.result.winner), reason }),
    );
  }
  return items;
}

function marketItems(view: View, words: Words, names: Names): string[] {
  const items = [view.row.length === 0 ? t("wizards_garden.row_empty") : t("wizards_garden.row_is", { cards: list(words, view.row) })];
  items.push(t("wizards_garden.deck_count", { n: view.deckCount, reshuffles: view.reshuffles }));
  items.push(t("wizards_garden.discards_are", { n: view.discards.length }));
  if (view.discards.length > 0) items.push(list(words, view.discards.toReversed()));
  for (const [kind, n] of [["pests", view.pestsInSupply], ["water", view.waterInSupply], ["fire", view.fireInSupply]] as const) {
    items.push(t("wizards_garden.supply_is", { what: termOf(words, kind), n }));
  }
  for (const { seat, spell } of view.cast) items.push(`${t("wizards_garden.cast")}, ${t("wizards_garden.cast_by", { seat: seatName(names, seat), spell: spellName(words, spell) })}`);
  return items;
}

/** The whole view in words: what the picture shows, and nothing it does not. */
export function sections(view: View, words: Words, names: Names, me: number | null): Section[] {
  const cells = cellsOf(view);
  const parts: Section[] = [{ title: t("wizards_garden.course"), items: courseItems(view, words, names) }];
  const filled = cells.filter((cell) => contents(cell, words, names).length > 0);
  const bare = cells.filter((cell) => cell.kind !== "pit" && !filled.includes(cell));
  parts.push({
    title: t("wizards_garden.yard"),
    items: [
      ...filled.map((cell) => cellLabel(cell, words, names)),
      t("wizards_garden.spaces_free", { spaces: bare.map((cell) => (cell.deposit ? `${cell.id} (${groundOf(cell)})` : cell.id)).join(", ") }),
      t("wizards_garden.spaces_pits", { spaces: cells.filter((cell) => cell.kind === "pit").map((cell) => cell.id).join(", ") }),
    ],
  });
  const threats = threatsOf(view);
  parts.push({ title: t("wizards_garden.threats"), items: threats.length === 0 ? [t("wizards_garden.no_threats")] : threats.map((threat) => threatLabel(threat, words)) });
  for (const side of seatsFrom(view, me)) {
    parts.push({ title: t("wizards_garden.side", { seat: seatName(names, side.seat), colour: colourOf(side.seat) }), items: sideItems(side, words) });
  }
  parts.push({ title: t("wizards_garden.market"), items: marketItems(view, words, names) });
  if (view.deck.length > 0) parts.push({ title: t("wizards_garden.deck_is"), items: [list(words, view.deck)] });
  if (view.setAside.length > 0) parts.push({ title: t("wizards_garden.aside"), items: [view.setAside.map((spell) => spellName(words, spell)).join(", ")] });
  return parts;
}

/** The situation in two sentences, one's own side first. */
export function situation(view: View, words: Words, names: Names, me: number | null): string {
  const said = seatsFrom(view, me)
    .toReversed()
    .map((side) => {
      const lit = side.lanterns.find((lantern) => lantern.state === "lit_on_board");
      return t("wizards_garden.situation", {
        seat: seatName(names, side.seat),
        n: side.lanternsInYard,
        bright: side.brightInYard,
        lit: lit === undefined ? t("wizards_garden.lit_none") : t("wizards_garden.lit_is", { lantern: lanternName(words, lit.kind) }),
        fire: side.fire,
        cards: list(words, side.spirits),
        hand: side.handCount,
        spells: side.spellCount,
      });
    });
  return [...said, t("wizards_garden.situation_threats", { n: view.groups.length })].join(" ");
}

// ---- what a thing is -------------------------------------------------------------------------------------------------

/** A thing of the picture in full. */
export function inspect(ref: string, view: View, words: Words, names: Names = []): Facts | null {
  const at = ref.indexOf(":");
  const [kind, id] = [ref.slice(0, at), ref.slice(at + 1)];
  switch (kind) {
    case "spell": {
      const spell = itemOf(words, "spells", id);
      if (spell === null) return null;
      return { title: spell.name, text: spell.text, rows: spell.facts.map(({ name, value }) => [termOf(words, name), termOf(words, value)]), rules: spell.rules };
    }
    case "card":
    case "open":
      return kindFacts(kindOf(id), cardName(words, id), words);
    case "slot": {
      const card = view.seats.find((side) => side.seat === (view.ownSeat ?? 0))?.spirits[Number(id)];
      return card === undefined ? null : kindFacts(kindOf(card), cardName(words, card), words);
    }
    case "kind":
      return kindFacts(id, lanternName(words, id), words);
    case "group": {
      const threat = threatsOf(view).find((one) => one.id === id);
      return threat === undefined ? null : { title: t("wizards_garden.threat_mark", threat as never), text: threatLabel(threat, words), rows: [], rules: ["WG-8", "WG-9"] };
    }
    case "space":
    case "at":
    case "to": {
      const cell = cellsOf(view).find((one) => one.id === id);
      if (cell === undefined) return null;
      const rows = contents(cell, words, names).length === 0 && cell.kind !== "pit" ? [t("wizards_garden.free")] : contents(cell, words, names);
      const text = [...rows, ...cell.threats.map((threat) => threatLabel(threat, words))].join(". ");
      const rules = cell.kind === "pit" ? ["WG-2.7"] : cell.terrace !== null ? ["WG-2.9"] : cell.deposit ? ["WG-2.10"] : ["WG-2.8"];
      return { title: t("wizards_garden.inspect_space", { space: cell.id, kind: groundOf(cell) }), text, rows: [], rules };
    }
    default:
      return null;
  }
}

function kindFacts(kind: string, title: string, words: Words): Facts | null {
  if (!(KINDS as readonly string[]).includes(kind)) return null;
  const text = t("wizards_garden.kind_text", { one: actionName(words, kind, 1), two: actionName(words, kind, 2) });
  const rule = { pest: "WG-6.2", water: "WG-6.3", spirit: "WG-6.4", gnome: "WG-6.5", fire: "WG-6.6" }[kind] ?? "WG-6";
  return { title, text, rows: [], rules: [rule] };
}
