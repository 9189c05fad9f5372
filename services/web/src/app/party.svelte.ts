import { matchmaking } from "../api/clients";
import { failureOf, granted } from "../api/errors";
import { uuid7 } from "../api/ids";
import { device } from "../api/shelf";
import type { Party } from "../gen/grimoire/v1/quickplay_pb";
import { t } from "../i18n/index.svelte";
import { toast } from "./announce.svelte";
import { search } from "./queue.svelte";
import { ensureAccount } from "./session.svelte";

const STORE = "grimoire.party";
const LOOK_MS = 2000;
/** Codes that another try does not change. */
const GONE = new Set(["unknown_party", "party_full", "people_only", "unauthenticated"]);

/** The friends one plays with: one party, followed until it is gone, whichever page is shown. */
class Company {
  now = $state.raw<Party | null>(null);
  #abort: AbortController | null = null;

  /** Who made it takes it to tables and into queues. */
  get leads(): boolean {
    return this.now?.members[0]?.mine ?? false;
  }

  /** Takes up the party that one was in before a reload. */
  async resume(language: string): Promise<void> {
    const partyId = device.get(STORE) ?? "";
    if (partyId === "" || this.now !== null) return;
    try {
      const party = await look(partyId, language);
      if (this.#isElsewhere(partyId)) return;
      // Whoever is out of it meanwhile, by leaving a table of it, has not asked to be in it again.
      if (party?.members.some((member) => member.mine)) this.#follow(party, language);
      else forget(partyId);
    } catch (error) {
      if (this.#isElsewhere(partyId)) return;
      if (GONE.has(failureOf(error).code)) forget(partyId);
      else setTimeout(() => void this.resume(language), LOOK_MS);
    }
  }

  /** A party of one. Throws what the call throws. */
  async make(game: string, language: string): Promise<void> {
    await ensureAccount();
    const { party } = granted(await matchmaking.createParty({ game, language, requestId: uuid7() }));
    if (party !== undefined) this.#follow(party, language);
  }

  /** Joins a friend's. Throws what the call throws. */
  async join(partyId: string, language: string): Promise<void> {
    await ensureAccount();
    const { party } = granted(await matchmaking.joinParty({ partyId, language }));
    if (party !== undefined) this.#follow(party, language);
  }

  /** Leaves it; if it is its maker who goes, all do. Throws what the call throws. */
  async leave(): Promise<void> {
    const { now } = this;
    if (now === null) return;
    granted(await matchmaking.leaveParty({ partyId: now.partyId }));
    this.drop();
  }

  /** Follows it no more. */
  drop(): void {
    const { now } = this;
    this.#abort?.abort();
    this.#abort = null;
    this.now = null;
    if (now !== null) forget(now.partyId);
  }

  /** While it was asked for, one came into another party: in this tab, or in another. */
  #isElsewhere(partyId: string): boolean {
    return this.now !== null || device.get(STORE) !== partyId;
  }

  #follow(party: Party, language: string): void {
    this.#abort?.abort();
    this.#abort = new AbortController();
    device.set(STORE, party.partyId);
    this.#take(party, language);
    void this.#listen(party.partyId, language, this.#abort.signal);
  }

  /** Looks every few seconds: a stream would hold one of the few connections that a browser has for us. */
  async #listen(partyId: string, language: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (document.hidden || signal.aborted) continue;
      try {
        const party = await look(partyId, language, signal);
        if (!signal.aborted && party !== undefined) this.#take(party, language);
      } catch (error) {
        if (!signal.aborted && failureOf(error).code === "unknown_party") this.#end(partyId);
      }
    }
  }

  #take(party: Party, language: string): void {
    if (party.gone || !party.members.some((member) => member.mine)) {
      this.#end(party.partyId);
      return;
    }
    this.now = party;
    if (party.ticketId !== "") void search.adopt(party.ticketId, language);
  }

  #end(partyId: string): void {
    this.drop();
    forget(partyId);
    toast(t("tables.party_gone"));
  }
}

/** This browser takes it up no more; another one that a tab is in meanwhile stays. */
function forget(partyId: string): void {
  if (device.get(STORE) === partyId) device.remove(STORE);
}

/** A party as it is now. Throws what the call throws. */
async function look(partyId: string, language: string, signal?: AbortSignal): Promise<Party | undefined> {
  const options = signal === undefined ? { timeoutMs: 5000 } : { signal, timeoutMs: 5000 };
  for await (const { party } of matchmaking.watchParty({ partyId, language }, options)) return party;
  return undefined;
}

export const party = new Company();
