import { create } from "@bufbuild/protobuf";
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";

import { AmountsSchema, AssignChoiceSchema } from "../../gen/grimoire/v1/prompt_pb";
import AmountsSlot from "./AmountsSlot.svelte";
import AssignSlot from "./AssignSlot.svelte";
import ChoiceSlot from "./ChoiceSlot.svelte";
import NameSlot from "./NameSlot.svelte";
import NumberSlot from "./NumberSlot.svelte";
import OrderSlot from "./OrderSlot.svelte";
import SomeSlot from "./SomeSlot.svelte";

afterEach(cleanup);
const say = (ref: string) => ({ text: ref.toUpperCase(), lang: undefined });
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));

describe("the controls of the slots", () => {
  it("gives the option that is pressed", async () => {
    const give = vi.fn();
    render(ChoiceSlot, { options: ["brave", "coward"], value: "brave", say, give });
    expect(screen.getByRole("button", { name: "BRAVE" }).getAttribute("aria-pressed")).toBe("true");
    await press("COWARD");
    expect(give).toHaveBeenCalledWith("coward");
  });

  it("toggles several, and lets the oldest go when they are too many", async () => {
    const give = vi.fn();
    render(SomeSlot, { options: ["a", "b", "c"], value: ["a", "b"], min: 2, max: 2, say, give });
    await press("B");
    expect(give).toHaveBeenLastCalledWith(["a"]);
    await press("C");
    expect(give).toHaveBeenLastCalledWith(["b", "c"]);
  });

  it("pays by itself until the sources are asked for", async () => {
    const give = vi.fn();
    render(SomeSlot, { options: ["m1", "m2"], value: ["m1"], automatic: ["m1"], say, give });
    expect(screen.queryByRole("button", { name: "M2" })).toBeNull();
    await press("Change");
    await press("M2");
    expect(give).toHaveBeenLastCalledWith(["m1", "m2"]);
  });

  it("counts within its bounds", async () => {
    const give = vi.fn();
    render(NumberSlot, { label: "fire", min: 1, max: 9, value: 9, give });
    await press(/More/);
    expect(give).toHaveBeenLastCalledWith(9);
    await press(/Less/);
    expect(give).toHaveBeenLastCalledWith(8);
    await press("min 1");
    expect(give).toHaveBeenLastCalledWith(1);
    await fireEvent.input(screen.getByRole("spinbutton"), { target: { value: "4" } });
    expect(give).toHaveBeenLastCalledWith(4);
  });

  it("deals out amounts and says what is left", async () => {
    const give = vi.fn();
    const amounts = create(AmountsSchema, { refs: [{ ref: "a", min: 0, max: 3 }, { ref: "b", min: 0, max: 3 }], minSum: 4, maxSum: 4 });
    render(AmountsSlot, { amounts, value: { a: 1, b: 1 }, say, give });
    expect(screen.getByRole("status").textContent).toContain("2");
    await press("More: B");
    expect(give).toHaveBeenCalledWith({ a: 1, b: 2 });
  });

  it("gives each thing its choice", async () => {
    const give = vi.fn();
    render(AssignSlot, { refs: [create(AssignChoiceSchema, { ref: "a", choices: ["x", "y"] })], value: { a: "x" }, say, give });
    await fireEvent.change(screen.getByLabelText("A"), { target: { value: "y" } });
    expect(give).toHaveBeenCalledWith({ a: "y" });
  });

  it("moves things up and down, not beyond the ends", async () => {
    const give = vi.fn();
    render(OrderSlot, { value: ["a", "b", "c"], say, give });
    await press("Up: A");
    expect(give).not.toHaveBeenCalled();
    await press("Down: A");
    expect(give).toHaveBeenCalledWith(["b", "a", "c"]);
  });

  it("takes a name that is typed in full", async () => {
    const give = vi.fn();
    render(NameSlot, { label: "card", options: ["ruby", "emerald"], value: undefined, say: (id: string) => id.toUpperCase(), give });
    const field = screen.getByRole("combobox", { name: "card" });
    await fireEvent.input(field, { target: { value: "rub" } });
    expect(give).not.toHaveBeenCalled();
    await fireEvent.input(field, { target: { value: "Ruby" } });
    expect(give).toHaveBeenCalledWith("ruby");
  });
});
