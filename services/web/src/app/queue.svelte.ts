import { matchmaking } from "../api/clients";
import { failureOf, granted } from "../api/errors";
import { uuid7 } from "../api/ids";
import { MatchMode } from "../gen/grimoire/v1/match_pb";
import { type Ticket, TicketStatus } from "../gen/grimoire/v1/quickplay_pb";
import { t } from "../i18n/index.svelte";
import { toast } from "./announce.svelte";
import { complain, failureText } from "./faults";
import { wasOpened } from "./opened";
import { go } from "./router.svelte";
import { ensureAccount } from "./session.svelte";

const OVER: Partial<Record<TicketStatus, string>> = {
  [TicketStatus.EXPIRED]: "lobby.search_expired",
  [TicketStatus.NOT_READY]: "lobby.search_not_ready",
};
const PAUSE_MS = 2000;
/** Kept while this browser searches: only then there is something to take up after a reload. */
const STORE = "grimoire.search";

function keep(ticketId: string): void {
  try {
    localStorage.setItem(STORE, ticketId);
  } catch {
    // Then a reload does not show the search again; entering anew does.
  }
}

function kept(): string {
  try {
    return localStorage.getItem(STORE) ?? "";
  } catch {
    return "";
  }
}

/** There is no more to take up of it; another search that a tab has begun meanwhile stays. */
function forget(ticketId: string): void {
  if (kept() !== ticketId) return;
  try {
    localStorage.removeItem(STORE);
  } catch {
    // Then it holds nothing of ours.
  }
}

/** Quick play for the whole site: one ticket, followed until its match begins, whichever page is shown. */
class Search {
  ticket = $state.raw<Ticket | null>(null);
  /** The ticket is not heard of right now; the server's word decides once it is again. */
  paused = $state(false);
  busy = $state(false);
  #abort: AbortController | null = null;

  /** Takes up the search that this account has, if it has one: also after a reload (W-LOB-6). */
  async resume(language: string): Promise<void> {
    const ticketId = kept();
    if (ticketId === "") return;
    try {
      const { ticket } = granted(await matchmaking.getTicket({ ticketId, language }));
      // While it was asked for, another search may have begun: in this tab, or in another.
      if (kept() !== ticketId) return;
      if (ticket !== undefined && waits(ticket)) this.#follow(ticket, language);
      else forget(ticketId);
    } catch (error) {
      // Another account's, or long gone; out of reach, it is asked for again with the next load.
      if (failureOf(error).rejection !== null) forget(ticketId);
    }
  }

  /** Nobody searches any more on this page. */
  drop(): void {
    if (this.ticket !== null) forget(this.ticket.ticketId);
    this.#abort?.abort();
    this.#abort = null;
    this.ticket = null;
    this.paused = false;
  }

  /** Takes up the ticket with which one's party waits. */
  async adopt(ticketId: string, language: string): Promise<void> {
    if (this.ticket !== null || ticketId === "") return;
    try {
      const { ticket } = granted(await matchmaking.getTicket({ ticketId, language }));
      if (ticket !== undefined && waits(ticket) && this.ticket === null) this.#follow(ticket, language);
    } catch {
      // Gone already: the party says so too.
    }
  }

  /**
   * Begins to search.
   *
   * @param seats of the match; 0: the game's usual number.
   * @param partyId friends who come along; empty: alone.
   */
  async enter(game: string, preset: string, rated: boolean, language: string, seats = 0, partyId = ""): Promise<void> {
    if (this.busy || this.ticket !== null) return;
    this.busy = true;
    try {
      await ensureAccount();
      // Where another window of this account searches already, the server says so.
      // Whether friends may play for ratings is for the game to say.
      const counts = partyId === "" ? MatchMode.RATED : MatchMode.UNSPECIFIED;
      const mode = rated ? counts : MatchMode.CASUAL;
      const { ticket } = granted(
        await matchmaking.enterQueue({ game, preset, mode, language, seats, partyId, requestId: uuid7() }),
      );
      if (ticket !== undefined) this.#follow(ticket, language);
    } catch (error) {
      complain(error);
    } finally {
      this.busy = false;
    }
  }

  async leave(): Promise<void> {
    const { ticket } = this;
    if (ticket === null) return;
    try {
      granted(await matchmaking.leaveQueue({ ticketId: ticket.ticketId }));
      this.drop();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === "ticket_gone") this.drop();
      else toast(failureText(failure), "bad");
    }
  }

  async answer(ready: boolean, language: string): Promise<void> {
    const check = this.ticket?.readyCheck;
    if (check === undefined) return;
    try {
      const { ticket } = granted(await matchmaking.answerReadyCheck({ checkId: check.checkId, ready, language }));
      if (!ready) this.drop();
      else if (ticket !== undefined) this.#take(ticket);
    } catch (error) {
      complain(error);
    }
  }

  #follow(ticket: Ticket, language: string): void {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    keep(ticket.ticketId);
    this.#take(ticket);
    void this.#listen(ticket.ticketId, language, abort.signal);
  }

  async #listen(ticketId: string, language: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const { ticket } of matchmaking.watchTicket({ ticketId, language }, { signal, timeoutMs: 0 })) {
          if (signal.aborted) return;
          this.paused = false;
          if (ticket !== undefined) this.#take(ticket);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (failureOf(error).code === "unknown_ticket") this.drop();
      }
      if (signal.aborted) return;
      this.paused = true;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  #take(ticket: Ticket): void {
    // Also where it is over when it is first heard of: kept, it would lead there again with every load.
    if (!waits(ticket) || ticket.matchId !== "") forget(ticket.ticketId);
    if (ticket.status === TicketStatus.MATCHED && ticket.matchId !== "") {
      this.drop();
      // The lobby may have told of it first, and whoever plays may be elsewhere again.
      if (!wasOpened(ticket.matchId)) go(`/m/${ticket.matchId}`);
    } else if (waits(ticket)) {
      this.ticket = ticket;
    } else {
      this.drop();
      const why = OVER[ticket.status];
      if (why !== undefined) toast(t(why));
    }
  }
}

function waits(ticket: Ticket): boolean {
  return (
    ticket.status === TicketStatus.WAITING ||
    ticket.status === TicketStatus.READY_CHECK ||
    ticket.status === TicketStatus.MATCHED
  );
}

export const search = new Search();
