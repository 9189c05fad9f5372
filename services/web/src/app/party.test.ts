import { create } from "@bufbuild/protobuf";
import { beforeEach, expect, test, vi } from "vitest";

import { matchmaking } from "../api/clients";
import { RefusedError } from "../api/errors";
import { device } from "../api/shelf";
import { RejectionSchema } from "../gen/grimoire/v1/envelope_pb";
import { AccountSchema } from "../gen/grimoire/v1/play_pb";
import { GetTicketResponseSchema, JoinPartyResponseSchema, PartySchema, TicketSchema, TicketStatus, WatchPartyResponseSchema } from "../gen/grimoire/v1/quickplay_pb";
import { party } from "./party.svelte";
import { search } from "./queue.svelte";
import { setAccount } from "./session.svelte";

const STORE = "grimoire.party";
const QUEUE = "grimoire.search";

const partyOf = (partyId: string, mine = true) => create(PartySchema, { partyId, members: [{ mine }], gone: !mine });

/** An answer of the server that comes when it is let go. */
class Held<Answer> {
  let: (answer: Answer) => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  readonly answer = new Promise<Answer>((resolve, reject) => {
    this.let = resolve;
    this.fail = reject;
  });
}

type Look = Parameters<typeof create<typeof WatchPartyResponseSchema>>[1];

function looks(answer: Promise<Look>): void {
  vi.spyOn(matchmaking, "watchParty").mockImplementation(async function* () {
    yield create(WatchPartyResponseSchema, await answer);
  });
}

function joins(partyId: string): void {
  vi.spyOn(matchmaking, "joinParty").mockResolvedValue(create(JoinPartyResponseSchema, { party: partyOf(partyId) }));
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.restoreAllMocks();
  party.drop();
  search.drop();
  localStorage.clear();
  setAccount(create(AccountSchema, { accountId: "me" }));
});

test.each<[string, (look: Held<Look>) => void]>([
  ["is still one's own", (look) => look.let({ party: partyOf("old") })],
  ["is gone", (look) => look.let({ party: partyOf("old", false) })],
  ["is unknown", (look) => look.fail(new RefusedError(create(RejectionSchema, { code: "unknown_party" })))],
])("whoever joins another party while the stored one is asked for stays in it, if that %s", async (_, answer) => {
  device.set(STORE, "old");
  const look = new Held<Look>();
  looks(look.answer);
  joins("new");
  const resumed = party.resume("en");
  await party.join("new", "en");
  answer(look);
  await resumed;
  await vi.advanceTimersByTimeAsync(0);
  expect([party.now?.partyId, device.get(STORE)]).toEqual(["new", "new"]);
});

test("a party that is gone takes with it no other that another tab is in", async () => {
  device.set(STORE, "old");
  looks(Promise.resolve({ party: partyOf("old") }));
  await party.resume("en");
  expect(party.now?.partyId).toBe("old");
  device.set(STORE, "new");
  looks(Promise.resolve({ party: partyOf("old", false) }));
  await vi.advanceTimersByTimeAsync(2000);
  expect([party.now, device.get(STORE)]).toEqual([null, "new"]);
});

test("a stored party that one is no longer in is forgotten", async () => {
  device.set(STORE, "old");
  looks(Promise.resolve({ party: partyOf("old", false) }));
  await party.resume("en");
  expect([party.now, device.get(STORE)]).toEqual([null, null]);
});

test("a search that is over is forgotten, one that another tab has begun meanwhile is not", async () => {
  for (const [meanwhile, left] of [["old", null], ["new", "new"]] as const) {
    device.set(QUEUE, "old");
    const answer = new Held<TicketStatus>();
    vi.spyOn(matchmaking, "getTicket").mockImplementation(async () =>
      create(GetTicketResponseSchema, { ticket: create(TicketSchema, { ticketId: "old", status: await answer.answer }) }),
    );
    const resumed = search.resume("en");
    device.set(QUEUE, meanwhile);
    answer.let(TicketStatus.EXPIRED);
    await resumed;
    expect(device.get(QUEUE)).toBe(left);
  }
});
