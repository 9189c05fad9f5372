import type { Words } from "../../api/manifest.svelte";
import type { CardView, MageView, Part, Stones, TrackView, View, VillageView } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import { t } from "../../i18n/index.svelte";
import { reasonOf, seatName, termOf } from "../../play/sentence";
import type { Facts, Section } from "../module";
import { counted, gapOf, magesAt, STAY, strengthOfCard, tooMany, warningsOf } from "./picture";
import { WAND } from "./refs";

type Names = readonly string[];

// ---- names -----------------------------------------------------------------------------------------------------------

/** A card, place, book or piece by name. */
export function nameOf(words: Words, id: string): string {
  return words.nameOf(id) ?? id;
}

export function mageName(words: Words, mage: number): string {
  return words.itemName("mages", String(mage)) ?? String(mage);
}

/** What stands on a card. */
export function textOf(words: Words, card: string): string {
  return words.manifest.catalogues.find(({ name }) => name === "cards")?.items.find(({ id }) => id === card)?.text ?? "";
}

/** The moon force of a card that has some. */
export function moonOf(words: Words, card: string): number {
  const item = words.manifest.catalogues.find(({ name }) => name === "cards")?.items.find(({ id }) => id === card);
  return Number(item?.facts.find(({ name }) => name === "moon_force")?.value ?? 0);
}

/** At the beginning of a line. */
export function capital(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}

/** Cards by name, those alike counted; "none" where there are none. */
export function listed(words: Words, cards: readonly string[]): string {
  return counted(cards.map((card) => nameOf(words, card))) || t("spellbound.none");
}

function optionLabel(words: Words, option: string): string {
  return words.manifest.options.find(({ name }) => name === option)?.label ?? option;
}

export function stonesText(stones: Stones | undefined): string {
  return t("spellbound.stones", { sun: stones?.sun ?? 0, moon: stones?.moon ?? 0 });
}

function formOf(words: Words, form: "at" | "to", place: string): string {
  return words.say(TemplateKind.EVENT, `${form}.${place}`);
}

// ---- things as a reader hears them -------------------------------------------------------------------------------------

/** Who stands there; empty: nobody. */
function there(view: View, place: string, words: Words): string[] {
  const mages = magesAt(view, place).map(({ mage }) => mageName(words, mage));
  const watchman = view.watchman === place ? [termOf(words, "watchman")] : [];
  return mages.length + watchman.length === 0 ? [] : [t("spellbound.there", { who: [...mages, ...watchman].join(", ") })];
}

/** A track with its place: piece, book, and who stands there. */
export function trackLabel(track: TrackView, view: View, words: Words): string {
  const about = { place: nameOf(words, track.place), piece: nameOf(words, track.piece), at: track.pieceAt, book: track.bookAt, gap: gapOf(track) };
  const danger = gapOf(track) === 1 ? [t("spellbound.danger")] : [];
  return capital([t(`spellbound.track_${track.bookState}`, about), ...danger, ...there(view, track.place, words)].join("; "));
}

/** Everything at a village. */
export function villageLabel(village: VillageView, view: View, words: Words): string {
  const about = { village: nameOf(words, village.village), card: nameOf(words, village.card), amount: village.amount, requirement: village.requirement };
  const state = village.faceDown ? "down" : village.card === "" ? "empty" : village.requirement > 0 ? "ally" : "place";
  const lying = village.influence.map(({ card }) => card);
  return capital(
    [t(`spellbound.village_${state}`, about), ...(lying.length > 0 ? [t("spellbound.lying", { cards: listed(words, lying) })] : []), ...there(view, village.village, words)].join("; "),
  );
}

/** A card of the display with its force, and whether it is new or on guard. */
export function cardLabel(card: CardView, words: Words): string {
  const force = strengthOfCard(card);
  const parts = [nameOf(words, card.card)];
  if (card.guard) parts.push(t("spellbound.guard"));
  else if (force !== null) parts.push(t(force.sign === "☀" ? "spellbound.sun_of" : "spellbound.moon_of", { n: force.n }));
  if (card.new) parts.push(t("spellbound.new"));
  return parts.join(", ");
}

export function mageLabel(mage: MageView, view: View, words: Words, names: Names): string {
  const parts = [
    t("spellbound.mage", { mage: mageName(words, mage.mage), seat: seatName(names, mage.seat), place: nameOf(words, mage.place), wand: mage.wand }),
    mage.spells.length === 0 ? t("spellbound.no_spells") : t("spellbound.spells_are", { spells: mage.spells.map((spell) => nameOf(words, spell)).join(", ") }),
  ];
  if (view.turn > 0 && view.result === undefined) {
    if (mage.mage === view.turnMage) parts.push(t("spellbound.its_turn"));
    else if (mage.mage === view.actingMage) parts.push(t("spellbound.is_led"));
  }
  return capital(parts.join("; "));
}

/** A step, or several of which one may be taken. */
export function partText({ any, times }: Part, words: Words): string {
  const steps = any.map((step) => termOf(words, `step.${step}`)).join(t("spellbound.or"));
  return times > 1 ? t("spellbound.times", { steps, n: times }) : steps;
}

// ---- the course of the match -------------------------------------------------------------------------------------------

/** Whose turn it is and what is asked, or how the match ended. */
function turnText(view: View, words: Words, names: Names): string {
  if (view.result !== undefined) return t(`spellbound.ended_${view.result.result === "won" ? "won" : "lost"}`, { reason: reasonOf(words, view.result.reason) });
  if (view.turn === 0) return t("spellbound.before");
  const about = {
    turn: view.turn,
    mage: mageName(words, view.turnMage),
    seat: seatName(names, view.activeSeat),
    puppet: mageName(words, view.actingMage),
    state: termOf(words, view.state),
  };
  return t(view.actingMage === view.turnMage ? "spellbound.turn" : "spellbound.turn_puppet", about);
}

/** What is asked or done besides the turn itself: a ride, moves, stones, a window, the card in progress. */
function besides(view: View, words: Words, names: Names): string[] {
  const items: string[] = [];
  if (view.ride !== undefined) {
    const { mage, rider, to } = view.ride;
    items.push(t("spellbound.ride", { mage: mageName(words, mage), rider: mageName(words, rider), goal: formOf(words, "to", to) }));
  }
  if (view.batch !== undefined) items.push(t("spellbound.batch", { moves: listed(words, view.batch.moves) }));
  if (view.stones.length > 0) {
    const stones = view.stones.map(({ stone, turned }) => t(`spellbound.${turned ? "turned" : stone === "sun" ? "sunstone" : "moonstone"}`));
    items.push(t("spellbound.drawn_are", { stones: counted(stones) }));
  }
  if (view.window !== undefined) {
    const passed = view.window.passed.map((seat) => seatName(names, seat)).join(", ");
    items.push(t("spellbound.window", { window: termOf(words, view.window.window), seat: seatName(names, view.window.seat) }));
    if (passed !== "") items.push(t("spellbound.window_passed", { seats: passed }));
  }
  if (view.progress !== undefined) items.push(progressText(view, words));
  const many = tooMany(view);
  if (many > 0) items.push(t("spellbound.too_many", { n: many, stay: STAY }));
  return items;
}

function progressText({ progress }: View, words: Words): string {
  if (progress === undefined) return "";
  const left = progress.left.filter(({ times }) => times > 0).map((part) => partText(part, words));
  const parts = [t("spellbound.progress", { card: nameOf(words, progress.card), left: left.join(", ") || t("spellbound.nothing_left") })];
  if (progress.village !== "") parts.push(t("spellbound.progress_village", { place: formOf(words, "at", progress.village), n: progress.given }));
  if (progress.rider !== undefined) parts.push(t("spellbound.progress_rider", { rider: mageName(words, progress.rider) }));
  return parts.join("; ");
}

/** Warnings in words, for the piece that they are about. */
export function warningText(key: ReturnType<typeof warningsOf>[number], view: View, words: Words): string {
  return t(`spellbound.warning_${key}`, { piece: nameOf(words, view.idlePiece) });
}

/** What the open question is about. */
export function underWay(view: View, words: Words, names: Names): string {
  return besides(view, words, names).join("; ");
}

function courseItems(view: View, words: Words, names: Names): string[] {
  const items = [turnText(view, words, names), ...besides(view, words, names), ...warningsOf(view).map((key) => warningText(key, view, words))];
  items.push(t("spellbound.books", { gained: view.booksGained, lost: view.booksLost }));
  if (view.moved && view.result === undefined) items.push(t("spellbound.moved"));
  const variants = variantsOf(view, words);
  if (variants !== "") items.push(t("spellbound.variants", { variants }));
  if (view.arranged) items.push(t("spellbound.arranged"));
  return items;
}

/** Difficulty options that are on; empty: none. */
export function variantsOf(view: View, words: Words): string {
  const on = [...(view.trollBuster ? ["troll_buster"] : []), ...(view.witchfinderGeneral ? ["witchfinder_general"] : [])].map((name) => optionLabel(words, name));
  const dan = words.manifest.options.find(({ name }) => name === "dan")?.choices.find(({ value }) => value === String(view.dan))?.label;
  return [...on, ...(view.dan > 0 && dan !== undefined ? [dan] : [])].join(", ");
}

export function witchText({ tower }: View): string {
  if (tower === undefined) return "";
  return tower.strength > 0 ? t("spellbound.witch", { step: tower.witch, n: tower.strength }) : t("spellbound.witch_top");
}

function towerItems(view: View, words: Words): string[] {
  const { tower } = view;
  if (tower === undefined) return [];
  return [
    witchText(view),
    t("spellbound.sun_pile_is", { n: tower.sunForce, cards: listed(words, tower.sunPile.toReversed()) }),
    t("spellbound.moon_pile_is", { cards: listed(words, tower.moonPile.toReversed()) }),
    t("spellbound.minions_are", { cards: listed(words, tower.minions) }),
    t("spellbound.forces", { sun: tower.sunForce, moon: tower.moonForce }),
    ...(tower.village === "" ? [] : [t("spellbound.meeting_at", { place: formOf(words, "at", tower.village) })]),
  ];
}

function pileItems(view: View, words: Words): string[] {
  return [
    t("spellbound.deck_is", { n: view.deckCount, ends: view.deckEnds }),
    ...(view.deckCards.length === 0 ? [] : [t("spellbound.deck_holds", { cards: listed(words, view.deckCards) })]),
    t("spellbound.discards_are", { n: view.discards.length, cards: listed(words, view.discards.toReversed()) }),
    t("spellbound.wicked_is", { n: view.wickedDeckCount, top: view.wickedTop === "" ? t("spellbound.none") : nameOf(words, view.wickedTop) }),
    t("spellbound.spells_left", { n: view.spellDeckCount }),
    t("spellbound.aside_is", { n: view.setAsideCount, box: view.boxCount }),
    t("spellbound.removed_are", { cards: listed(words, view.removed) }),
    t("spellbound.bag_is", { stones: stonesText(view.bag) }),
    t("spellbound.drawn_is", { stones: stonesText(view.drawn) }),
    t("spellbound.supply_is", { stones: stonesText(view.supply) }),
  ];
}

function row(cards: readonly CardView[], words: Words): string[] {
  return cards.length === 0 ? [t("spellbound.none")] : cards.map((card) => `${cardLabel(card, words)}: ${textOf(words, card.card)}`);
}

/** What nobody sees before the end: decks from the top, and what lies face down. */
function hiddenItems(view: View, words: Words): string[] {
  const piles = [["destiny_deck", view.deck], ["wicked_deck", view.wickedDeck], ["spell_deck", view.spellDeck]] as const;
  const named = piles.filter(([, cards]) => cards.length > 0).map(([key, cards]) => `${capital(termOf(words, key))}: ${cards.map((card) => nameOf(words, card)).join(", ")}`);
  const down = view.villages.flatMap(({ village }, n) => (view.faceDown[n] ? [`${capital(nameOf(words, village))}: ${nameOf(words, view.faceDown[n])}`] : []));
  const rest = [["aside", view.setAside], ["box", view.box]] as const;
  return [...named, ...down, ...rest.filter(([, cards]) => cards.length > 0).map(([key, cards]) => `${t(`spellbound.${key}`)}: ${listed(words, cards)}`)];
}

/** The whole view in words: what the picture shows, and nothing it does not. */
export function sections(view: View, words: Words, names: Names): Section[] {
  const parts: Section[] = [
    { title: t("spellbound.course"), items: courseItems(view, words, names) },
    { title: t("spellbound.wicked_row"), items: row(view.upperRow, words) },
    { title: t("spellbound.mage_row"), items: row(view.lowerRow, words) },
    { title: t("spellbound.tracks"), items: view.tracks.map((track) => trackLabel(track, view, words)) },
    { title: t("spellbound.villages"), items: view.villages.map((village) => villageLabel(village, view, words)) },
    {
      title: t("spellbound.mages"),
      items: [
        ...view.mages.flatMap((mage) => [mageLabel(mage, view, words, names), ...mage.spells.map((spell) => `${nameOf(words, spell)}: ${textOf(words, spell)}`)]),
        ...view.policies.map((policy, seat) => t("spellbound.policy_of", { seat: seatName(names, seat), policy: termOf(words, policy) })),
      ],
    },
    { title: t("spellbound.tower"), items: towerItems(view, words) },
    { title: t("spellbound.piles"), items: pileItems(view, words) },
  ];
  const hidden = hiddenItems(view, words);
  return hidden.length === 0 ? parts : [...parts, { title: t("spellbound.hidden"), items: hidden }];
}

/** The situation in two sentences. */
export function situation(view: View, words: Words, names: Names): string {
  const danger = view.tracks.filter((track) => gapOf(track) === 1).map(({ book }) => nameOf(words, book));
  return [
    `${turnText(view, words, names)}.`,
    t("spellbound.situation", { gained: view.booksGained, lost: view.booksLost, step: view.tower?.witch ?? 0, sun: view.tower?.sunForce ?? 0, moon: view.tower?.moonForce ?? 0, wicked: view.upperRow.length }),
    ...(danger.length > 0 ? [t("spellbound.situation_danger", { books: danger.join(", ") })] : []),
  ].join(" ");
}

// ---- what a thing is ---------------------------------------------------------------------------------------------------

/** A thing of the picture in full. */
export function inspect(ref: string, view: View, words: Words, names: Names = []): Facts | null {
  const [kind, id] = [ref.slice(0, ref.indexOf(":")), ref.slice(ref.indexOf(":") + 1)];
  switch (kind) {
    case "card":
    case "spell":
      return cardFacts(id, words);
    case "wand":
      return ref === WAND || view.mages.length > 0 ? cardFacts("wand", words) : null;
    case "place":
    case "to":
    case "village":
      return placeFacts(id, view, words);
    case "book":
    case "piece": {
      const track = view.tracks.find(({ book, piece }) => (kind === "book" ? book : piece) === id);
      return track === undefined ? null : { title: capital(nameOf(words, id)), text: trackLabel(track, view, words), rows: [], rules: ["SB-2.2", kind === "book" ? "SB-7.15" : "SB-13"] };
    }
    case "mage": {
      const mage = view.mages.find((one) => String(one.mage) === id);
      return mage === undefined ? null : { title: capital(mageName(words, mage.mage)), text: mageLabel(mage, view, words, names), rows: [], rules: ["SB-1.2"] };
    }
    default:
      return null;
  }
}

function cardFacts(card: string, words: Words): Facts | null {
  const items = words.manifest.catalogues.find(({ name }) => name === "cards")?.items ?? [];
  const item = items.find(({ id }) => id === card) ?? items.find(({ id }) => id.startsWith(`${card}_`));
  if (item === undefined) return null;
  return { title: item.name, text: item.text, rows: item.facts.map(({ name, value }) => [termOf(words, name), termOf(words, value)]), rules: item.rules };
}

function placeFacts(place: string, view: View, words: Words): Facts | null {
  const track = view.tracks.find((one) => one.place === place);
  if (track !== undefined) return { title: capital(nameOf(words, place)), text: trackLabel(track, view, words), rows: [], rules: [place === "wilderness" ? "SB-7.5" : "SB-7.6", "SB-7.15"] };
  const village = view.villages.find((one) => one.village === place);
  if (village === undefined) return null;
  const card = village.card === "" ? null : cardFacts(village.card, words);
  return {
    title: capital(nameOf(words, place)),
    text: [villageLabel(village, view, words), ...(card === null ? [] : [card.text.replace(/\.$/, "")])].join(". ") + ".",
    rows: [],
    rules: ["SB-7.2", ...(card?.rules ?? [])],
  };
}
