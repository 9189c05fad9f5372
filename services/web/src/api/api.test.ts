import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";

import { RejectionSchema } from "../gen/grimoire/v1/envelope_pb";
import { failureOf, granted, RefusedError, rejectionOf } from "./errors";
import { hex, sameBytes, unhex, uuid7 } from "./ids";

describe("what went wrong", () => {
  const rejection = create(RejectionSchema, { code: "bad_option", rule: "TT-2", message: "Too high.", field: "time" });

  test("is the rejection, whether it came as an error or as an answer", () => {
    const error = new ConnectError("no", Code.InvalidArgument, undefined, [{ desc: RejectionSchema, value: rejection }]);
    expect(failureOf(error)).toMatchObject({ code: "bad_option", rule: "TT-2", sentence: "Too high.", again: false });
    expect(() => granted({ rejection })).toThrow(RefusedError);
    expect(rejectionOf(new RefusedError(rejection))).toBe(rejection);
    const answer = { rejection: undefined, n: 1 };
    expect(granted(answer)).toBe(answer);
  });

  test.each([
    [Code.Unavailable, "unreachable", true],
    [Code.Unknown, "unreachable", true],
    [Code.DeadlineExceeded, "timeout", true],
    [Code.Internal, "internal", true],
    [Code.Unimplemented, "unimplemented", false],
  ])("has a stable code without one, too: %s", (code, name, again) => {
    expect(failureOf(new ConnectError("x", code))).toMatchObject({ code: name, again, rejection: null });
  });

  test("may go away by waiting, where the server says how long", () => {
    const fast = create(RejectionSchema, { code: "rate_limited", retryAfterMs: 200 });
    expect(failureOf(new RefusedError(fast)).again).toBe(true);
  });
});

describe("ids", () => {
  test("are of version 7, by time", () => {
    const at = 0x0123_4567_89ab;
    const id = hex(uuid7(at));
    expect(id).toMatch(/^0123456789ab7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    expect(hex(uuid7(at))).not.toBe(id);
    expect(hex(uuid7(at + 1)) > id).toBe(true);
  });

  test("are the same bytes as their digits", () => {
    const bytes = Uint8Array.of(0, 15, 255);
    expect(hex(bytes)).toBe("000fff");
    expect(sameBytes(unhex("000FFF"), bytes)).toBe(true);
    expect(sameBytes(bytes, Uint8Array.of(0, 15))).toBe(false);
    expect(() => unhex("0g")).toThrow(RangeError);
    expect(() => unhex("000")).toThrow(RangeError);
  });
});
