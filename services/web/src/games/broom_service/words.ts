import type { Words } from "../../api/manifest.svelte";
import type { CloudView, Play, SeatView, Step, TowerView, View } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import { TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import { t } from "../../i18n/index.svelte";
import { reasonOf, seatName, termOf } from "../../play/sentence";
import type { Facts, Section } from "../module";
import { type Plot, plotsOf } from "./geometry";
import { type Amounts, cloudsAt, openSteps, pawnsIn, RESOURCES, tileAt, towersAt, trickOf } from "./picture";

type Names = readonly string[];

// ---- names -----------------------------------------------------------------------------------------------------------

/** A role, event, tile, cloud, region or tower by name. */
export function nameOf(words: Words, id: string): string {
  return words.nameOf(id) ?? id;
}

export function pawnName(words: Words, pawn: number): string {
  return words.itemName("pawns", String(pawn)) ?? String(pawn + 1);
}

/** At the beginning of a line. */
export function capital(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}

function itemOf(words: Words, catalogue: string, id: string) {
  return words.manifest.catalogues.find(({ name }) => name === catalogue)?.items.find((item) => item.id === id) ?? null;
}

/** What a role does in a stance. */
export function roleText(words: Words, role: string, stance: "brave" | "cowardly"): string {
  return itemOf(words, "roles", role)?.facts.find(({ name }) => name === stance)?.value ?? "";
}

/** gatherer, witch, druid or fairy. */
export function roleKind(words: Words, role: string): string {
  return itemOf(words, "roles", role)?.facts.find(({ name }) => name === "kind")?.value ?? "";
}

/** What an event does. */
export function eventText(words: Words, event: string): string {
  return itemOf(words, "events", event)?.text ?? "";
}

/** Resources, those that are not 0; "none" where there are none. */
export function amountsText(amounts: Amounts | undefined, words: Words): string {
  const told = RESOURCES.flatMap((one) => {
    const n = amounts?.[one] ?? 0;
    return n === 0 ? [] : [words.say(TemplateKind.EVENT, `amount.${one}`, { n: String(n) })];
  });
  return told.length === 0 ? t("broom_service.nothing") : told.join(", ");
}

// ---- things as a reader hears them -------------------------------------------------------------------------------------

/** A tower with what it is worth, and the regions that it touches besides the one where it is told. */
export function towerLabel(tower: TowerView, words: Words, without = ""): string {
  const about = { tower: nameOf(words, tower.tower), vp: tower.vp, wands: tower.wands };
  const line = t(`broom_service.tower_${tower.occupied ? "occupied" : tower.wands > 0 ? "wands" : "free"}`, about);
  const others = tower.touches.filter((region) => region !== without).map((region) => nameOf(words, region));
  return others.length === 0 ? line : t(without === "" ? "broom_service.tower_at" : "broom_service.tower_also", { tower: line, regions: others.join(", ") });
}

export function cloudLabel(cloud: CloudView, words: Words): string {
  return `${nameOf(words, cloud.cloud)}, ${nameOf(words, cloud.region)}`;
}

/** Everything in a region. */
export function regionLabel(view: View, plot: Plot, words: Words, names: Names, me: number | null): string {
  const parts: string[] = [];
  if (plot.castle) parts.push(t("broom_service.castle"));
  if (plot.circle !== "") parts.push(nameOf(words, plot.circle));
  const tile = tileAt(view, plot.id);
  if (tile !== "") parts.push(t("broom_service.tile", { tile: nameOf(words, tile) }));
  const pawns = pawnsIn(view, plot.id, me);
  if (pawns.length > 0) parts.push(t("broom_service.pawns", { pawns: counted(pawns.map(({ seat }) => seatName(names, seat))) }));
  parts.push(...cloudsAt(view, plot.id).map(({ cloud }) => nameOf(words, cloud)));
  parts.push(...towersAt(view, plot.id).map((tower) => towerLabel(tower, words, plot.id)));
  const name = capital(nameOf(words, plot.id));
  return parts.length === 0 ? name : `${name}: ${parts.join("; ")}`;
}

/** Texts, those alike counted. */
function counted(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, n]) => (n > 1 ? `${text} ×${n}` : text)).join(", ");
}

/** What one seat did in a trick. */
export function playText(play: Play, view: View, words: Words, names: Names): string {
  const seat = seatName(names, play.seat);
  if (play.passed) return t("broom_service.play_next", { seat });
  if (play.spentRole) return t("broom_service.play_spent", { seat });
  if (play.outdone) return t("broom_service.play_out", { seat });
  if (play.instead !== "") return t("broom_service.play_instead", { seat, what: nameOf(words, play.instead === "event" ? view.event : play.instead) });
  return t(play.stance === "brave" ? "broom_service.play_brave" : "broom_service.play_cowardly", { seat });
}

/** An open step: what may be done, how much of it, where. */
export function stepText(step: Step, words: Words): string {
  const about = {
    list: amountsText(step.take, words),
    n: step.moves,
    terrains: step.terrains.map((terrain) => termOf(words, terrain)).join(t("broom_service.or")),
    region: nameOf(words, step.region),
    pawn: step.pawn === undefined ? "" : pawnName(words, step.pawn),
    circles: step.circles.join(t("broom_service.or")),
  };
  const line = t(`broom_service.step_${stepKey(step)}`, about);
  const parts = [line, ...(step.bonusVp > 0 ? [t("broom_service.bonus", { n: step.bonusVp })] : [])];
  return step.cause === "" ? parts.join(", ") : `${parts.join(", ")} (${nameOf(words, step.cause)})`;
}

function stepKey(step: Step): string {
  if (step.kind === "gather") return step.one ? "gather_one" : "gather";
  if (step.kind === "move") return step.terrains.length > 0 ? "move_terrains" : "move";
  if (step.kind === "deliver") return step.region !== "" ? "deliver_region" : step.terrains.length > 0 ? "deliver_terrains" : "deliver";
  return step.kind;
}

/** What the final scoring would bring a seat now. */
export function outlook(seat: SeatView): number {
  return seat.vp + seat.lightningVp + seat.setsVp + seat.amuletsVp;
}

export function seatText(seat: SeatView, view: View, words: Words, names: Names): string {
  const flags: string[] = [];
  if (seat.retired) flags.push(t("broom_service.flag_retired"));
  if (view.result === undefined) {
    if (view.braveSeat === seat.seat) flags.push(t("broom_service.flag_brave"));
    if (view.trickNo > 0 && view.leader === seat.seat) flags.push(t("broom_service.flag_leads"));
    if (view.asked.includes(seat.seat)) flags.push(t("broom_service.flag_asked"));
    else if (seat.answered && !seat.retired) flags.push(t("broom_service.flag_answered"));
  }
  const about = {
    seat: seatName(names, seat.seat),
    vp: seat.vp,
    resources: amountsText(seat.resources, words),
    cards: seat.cardsLeft === undefined ? t("broom_service.hidden_cards") : String(seat.cardsLeft),
    pawns: seat.pawns.map((region) => nameOf(words, region)).join(", "),
  };
  return [t("broom_service.seat", about), ...flags].join(", ");
}

// ---- the course of the match -------------------------------------------------------------------------------------------

/** Round, and who is asked what; or how the match ended. */
export function turnText(view: View, words: Words, names: Names): string {
  if (view.result !== undefined) {
    const winners = view.result.winners.map((seat) => seatName(names, seat)).join(", ");
    return t("broom_service.ended", { reason: reasonOf(words, view.result.reason), winners });
  }
  if (view.round === 0) return t("broom_service.before");
  const asked = view.asked.map((seat) => seatName(names, seat)).join(", ");
  const about = { round: view.round, rounds: view.rounds, trick: view.trickNo, role: nameOf(words, trickOf(view)[0]?.role ?? ""), seats: asked };
  const doing = ["choose", "extra", "lead", "follow", "steps", "offer", "hand_in"].includes(view.stage) ? t(`broom_service.doing_${view.stage}`, about) : "";
  return t("broom_service.turn", { ...about, doing });
}

/** What the open question is about: the role that is followed or acted on, and the steps that are open. */
export function underWay(view: View, words: Words): string {
  if (view.result !== undefined) return "";
  if (view.stage === "follow") return capital(nameOf(words, trickOf(view)[0]?.role ?? ""));
  if (view.stage === "steps") return openSteps(view).map((step) => stepText(step, words)).join("; ");
  if (view.stage === "choose" || view.stage === "offer" || view.stage === "hand_in") return eventLine(view, words);
  return "";
}

function eventLine(view: View, words: Words): string {
  return view.event === "" ? "" : `${nameOf(words, view.event)}: ${eventText(words, view.event)}`;
}

function courseItems(view: View, words: Words, names: Names): string[] {
  const items = [turnText(view, words, names)];
  if (view.event !== "") items.push(t("broom_service.event", { event: nameOf(words, view.event), text: eventText(words, view.event) }));
  if (view.bewitched.length > 0) items.push(t("broom_service.bewitched", { roles: view.bewitched.map((role) => nameOf(words, role)).join(", ") }));
  const plays = trickOf(view);
  if (view.trickNo > 0 && plays.length > 0) {
    items.push(t("broom_service.trick", { trick: view.trickNo, role: nameOf(words, plays[0]?.role ?? ""), plays: plays.map((play) => playText(play, view, words, names)).join(", ") }));
  }
  if (view.led.length > 0) items.push(t("broom_service.led", { roles: view.led.map((role) => nameOf(words, role)).join(", ") }));
  if (view.actingSeat !== undefined && view.steps.length > 0) {
    items.push(t("broom_service.steps_of", { seat: seatName(names, view.actingSeat), steps: openSteps(view).map((step) => stepText(step, words)).join("; ") }));
  }
  if (view.extraRole !== "") items.push(t("broom_service.own_extra", { role: nameOf(words, view.extraRole) }));
  if (view.offer !== undefined) items.push(t("broom_service.own_offer", { resources: amountsText(view.offer, words) }));
  items.push(t("broom_service.stacks", { events: view.eventsToCome, bewitched: view.bewitchedCount }));
  if (view.arranged) items.push(t("broom_service.arranged"));
  return items;
}

function seatItems(view: View, words: Words, names: Names): string[] {
  return view.seats.flatMap((seat) => {
    const lines = [seatText(seat, view, words, names)];
    if (seat.clouds.length > 0) lines.push(t("broom_service.charmed", { n: seat.clouds.length, lightning: seat.lightning, vp: seat.lightningVp }));
    if (seat.amulets.length > 0) lines.push(t("broom_service.amulets", { n: seat.amulets.length, vp: seat.amuletsVp, regions: seat.amulets.map((region) => nameOf(words, region)).join(", ") }));
    if (seat.forestTiles.length > 0) lines.push(t("broom_service.forest_tiles", { tiles: seat.forestTiles.map((tile) => nameOf(words, tile)).join(", ") }));
    lines.push(t("broom_service.scoring", { vp: seat.vp, lightning: seat.lightningVp, sets: seat.setsVp, amulets: seat.amuletsVp, sum: outlook(seat) }));
    return lines;
  });
}

function roleItems(view: View, words: Words, names: Names): readonly Section[] {
  return view.seats
    .filter(({ roles }) => roles.length > 0)
    .map(({ seat, roles }) => ({
      title: t("broom_service.hand_of", { seat: seatName(names, seat) }),
      items: roles.map((role) => `${capital(roleLabel(role, view, words))}. ${itemOf(words, "roles", role)?.text ?? ""}`),
    }));
}

/** A role with what is special about it in this round. */
export function roleLabel(role: string, view: View, words: Words): string {
  const notes = [...(view.bewitched.includes(role) ? [t("broom_service.is_bewitched")] : []), ...(view.led.includes(role) ? [t("broom_service.was_led")] : [])];
  return [nameOf(words, role), ...notes].join(", ");
}

function hiddenItems(view: View, words: Words, names: Names): string[] {
  const listed = (ids: readonly string[]) => ids.map((id) => nameOf(words, id)).join(", ");
  const piles = [["events", view.eventsHidden], ["stack", view.bewitchedStack], ["out", view.eventsOut]] as const;
  const items = piles.filter(([, ids]) => ids.length > 0).map(([key, ids]) => t(`broom_service.hidden_${key}`, { things: listed(ids) }));
  for (const hand of view.hands) {
    const seat = seatName(names, hand.seat);
    if (hand.extraRole !== "") items.push(t("broom_service.hidden_extra", { seat, role: nameOf(words, hand.extraRole) }));
    if (hand.offer !== undefined) items.push(t("broom_service.hidden_offer", { seat, resources: amountsText(hand.offer, words) }));
  }
  return items;
}

/** The whole view in words: what the picture shows, and nothing it does not. */
export function sections(view: View, words: Words, names: Names, me: number | null): Section[] {
  const parts: Section[] = [
    { title: t("broom_service.course"), items: courseItems(view, words, names) },
    ...roleItems(view, words, names),
    { title: t("broom_service.seats"), items: seatItems(view, words, names) },
    { title: t("broom_service.map"), items: plotsOf(view.board).map((plot) => regionLabel(view, plot, words, names, me)) },
  ];
  if (view.result !== undefined) parts.splice(1, 0, { title: t("broom_service.scores"), items: scoreItems(view, names) });
  const hidden = hiddenItems(view, words, names);
  return hidden.length === 0 ? parts : [...parts, { title: t("broom_service.hidden"), items: hidden }];
}

function scoreItems(view: View, names: Names): string[] {
  return (view.result?.scores ?? []).map((score) =>
    t("broom_service.score", {
      rank: score.rank,
      seat: seatName(names, score.seat),
      before: score.vpBefore,
      lightning: score.lightningVp,
      sets: score.setsVp,
      amulets: score.amuletsVp,
      vp: score.vp,
    }),
  );
}

/** The situation in two sentences. */
export function situation(view: View, words: Words, names: Names): string {
  const standing = [...view.seats].sort((a, b) => b.vp - a.vp).map(({ seat, vp }) => `${seatName(names, seat)} ${vp}`);
  const event = view.event === "" || view.result !== undefined ? [] : [t("broom_service.situation_event", { event: nameOf(words, view.event) })];
  return [`${turnText(view, words, names)}.`, ...event, t("broom_service.situation", { standing: standing.join(", ") })].join(" ");
}

// ---- what a thing is ---------------------------------------------------------------------------------------------------

/** A thing of the picture in full. */
export function inspect(ref: string, view: View, words: Words, names: Names = []): Facts | null {
  const [kind, id] = [ref.slice(0, ref.indexOf(":")), ref.slice(ref.indexOf(":") + 1)];
  switch (kind) {
    case "role":
    case "event":
    case "tile":
    case "cloud":
      return itemFacts(`${kind}s`, id, words);
    case "instead":
      return id === "event" ? itemFacts("events", view.event, words) : itemFacts("tiles", id, words);
    case "space": {
      const cloud = view.clouds.find(({ space }) => space === id);
      return cloud === undefined ? null : itemFacts("clouds", cloud.cloud, words);
    }
    case "tower": {
      const tower = view.towers.find((one) => one.tower === id);
      return tower === undefined ? null : { title: capital(nameOf(words, id)), text: towerLabel(tower, words), rows: [], rules: ["BS-7.1", "BS-7.2"] };
    }
    case "circle":
    case "region": {
      const plot = plotsOf(view.board).find((one) => (kind === "region" ? one.id : one.circle) === id);
      return plot === undefined ? null : regionFacts(plot, view, words, names);
    }
    case "seat": {
      const seat = view.seats.find((one) => String(one.seat) === id);
      if (seat === undefined) return null;
      const scoring = t("broom_service.scoring", { vp: seat.vp, lightning: seat.lightningVp, sets: seat.setsVp, amulets: seat.amuletsVp, sum: outlook(seat) });
      const clouds = seat.clouds.map((cloud) => [nameOf(words, cloud), ""] as const);
      return { title: seatName(names, seat.seat), text: `${seatText(seat, view, words, names)}. ${capital(scoring)}.`, rows: clouds, rules: ["BS-10"] };
    }
    default:
      return null;
  }
}

function itemFacts(catalogue: string, id: string, words: Words): Facts | null {
  const item = itemOf(words, catalogue, id);
  if (item === null) return null;
  const rows = item.facts.filter(({ name }) => name !== "brave" && name !== "cowardly").map(({ name, value }) => [termOf(words, name), value.split(", ").map((each) => termOf(words, each)).join(", ")] as const);
  return { title: capital(item.name), text: item.text, rows, rules: item.rules };
}

function regionFacts(plot: Plot, view: View, words: Words, names: Names): Facts {
  const tile = tileAt(view, plot.id);
  const told = tile === "" ? [] : [`${nameOf(words, tile)}: ${itemOf(words, "tiles", tile)?.text ?? ""}`];
  return { title: capital(nameOf(words, plot.id)), text: [`${regionLabel(view, plot, words, names, null)}.`, ...told].join(" "), rows: [], rules: ["BS-2.8", "BS-8.1"] };
}
