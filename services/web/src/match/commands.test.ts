import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";

import { hex } from "../api/ids";
import { type Command, type CommandReply, CommandReplySchema } from "../gen/grimoire/v1/envelope_pb";
import { Commands, type Pending, type Submit } from "./commands";

const WAITS = { replyMs: 20, pausesMs: [1] };
const accepted = (): CommandReply => create(CommandReplySchema, { result: { case: "accepted", value: { version: 7n } } });
const refused = (code: string): CommandReply =>
  create(CommandReplySchema, { result: { case: "rejection", value: { code, message: code } } });

/** A server that answers each attempt in turn: with a reply, an error, or not at all. */
function server(...answers: (CommandReply | Error | "silence")[]) {
  const got: Command[] = [];
  const submit: Submit = (command, signal, timeoutMs) => {
    got.push(command);
    const next = answers.shift() ?? "silence";
    if (next instanceof Error) return Promise.reject(next);
    if (next !== "silence") return Promise.resolve(next);
    return new Promise((_, reject) => {
      const give = (code: Code) => () => reject(new ConnectError("no answer", code));
      setTimeout(give(Code.DeadlineExceeded), timeoutMs);
      signal.addEventListener("abort", give(Code.Canceled));
    });
  };
  return { got, submit };
}

beforeEach(() => sessionStorage.clear());

function commands(submit: Submit) {
  const told: (readonly [Pending | null, number])[] = [];
  return { told, all: new Commands("m1", submit, (pending, attempt) => told.push([pending, attempt]), WAITS) };
}

describe("a command", () => {
  it("is sent once and done when it is accepted", async () => {
    const { got, submit } = server(accepted());
    const { all, told } = commands(submit);
    expect(await all.send(0, "play_card", new Uint8Array([1]), 3)).toEqual({ kind: "accepted" });
    expect(got).toHaveLength(1);
    expect(got[0]).toMatchObject({ matchId: "m1", seat: 0, promptId: 3, type: "play_card" });
    expect(got[0]?.commandId).toHaveLength(16);
    expect(told.at(-1)?.[0]).toBeNull();
    expect(all.left()).toBeNull();
  });

  it("goes again with the same id while there is no answer", async () => {
    const { got, submit } = server("silence", new ConnectError("away", Code.Unavailable), refused("overloaded"), accepted());
    const { all, told } = commands(submit);
    expect(await all.send(0, "play_card", new Uint8Array(), 3)).toEqual({ kind: "accepted" });
    expect(new Set(got.map((command) => hex(command.commandId))).size).toBe(1);
    expect(got).toHaveLength(4);
    expect(told.map(([, attempt]) => attempt)).toEqual([1, 2, 3, 4, 4]);
  });

  it("is the only one under way, however often the button is pressed", async () => {
    const { got, submit } = server(accepted());
    const { all } = commands(submit);
    const first = all.send(0, "play_card", new Uint8Array(), 3);
    expect(all.send(0, "play_card", new Uint8Array(), 3)).toBeNull();
    await first;
    expect(got).toHaveLength(1);
  });

  it("is done when its entry comes before its reply", async () => {
    const { got, submit } = server("silence");
    const { all } = commands(submit);
    const fate = all.send(0, "play_card", new Uint8Array(), 3);
    all.seen("00");
    all.seen(all.pending?.id ?? "");
    expect(await fate).toEqual({ kind: "seen" });
    expect(got).toHaveLength(1);
  });

  it("tells why it was refused", async () => {
    const { submit } = server(refused("cannot_afford"));
    const { all } = commands(submit);
    expect(await all.send(0, "play_card", new Uint8Array(), 3)).toMatchObject({ kind: "rejected", rejection: { code: "cannot_afford" } });
    expect(all.pending).toBeNull();
  });

  it("fails where another try changes nothing", async () => {
    const { got, submit } = server(new ConnectError("who are you", Code.Unauthenticated));
    const { all } = commands(submit);
    expect(await all.send(0, "resign", new Uint8Array(), null)).toMatchObject({ kind: "failed" });
    expect(got).toHaveLength(1);
    expect(got[0]?.promptId).toBeUndefined();
  });

  it("survives a reload with its id and what it says", async () => {
    const before = commands(server("silence").submit);
    const fate = before.all.send(1, "play_card", new Uint8Array([9]), 5);
    const id = before.all.pending?.id;
    before.all.close();
    expect(await fate).toEqual({ kind: "stopped" });

    const { got, submit } = server(accepted());
    const after = commands(submit).all;
    const left = after.left();
    expect(left?.id).toBe(id);
    expect(await after.resume(left as Pending)).toEqual({ kind: "accepted" });
    expect(got[0]).toMatchObject({ seat: 1, promptId: 5, type: "play_card" });
    expect([...(got[0]?.payload ?? [])]).toEqual([9]);
    expect(hex(got[0]?.commandId ?? new Uint8Array())).toBe(id);
    expect(after.left()).toBeNull();
  });
});
