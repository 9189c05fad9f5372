import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { Words } from "../api/manifest.svelte";
import { ManifestSchema, TemplateKind } from "../gen/grimoire/v1/manifest_pb";
import { bookOf, entryOf, usersOf } from "./book";

const card = (id: string, colour: string, text: string, rules: string[]): object => ({
  id,
  name: id.toUpperCase(),
  text,
  facts: [{ name: "colour", value: colour }],
  rules,
});
const words = new Words(
  create(ManifestSchema, {
    clauses: [
      { rule: "G-1", title: "Aim", text: "Win." },
      { rule: "G-1.1", title: "Points", text: "Most points win." },
      { rule: "G-2", title: "Turn", text: "Play or rest." },
      { rule: "G-2.1", title: "Play", text: "Pay first." },
      { rule: "G-2.2", title: "Rest", text: "Draw." },
    ],
    catalogues: [
      {
        name: "cards",
        label: "cards",
        items: [
          card("owl", "red", "Flies.", ["G-2.1"]),
          card("cat", "blue", "Purrs.", ["G-2.1", "G-2.2"]),
          card("fox", "red", "Runs.", ["G-2.1"]),
        ] as never,
      },
    ],
    templates: [
      { kind: TemplateKind.REJECTION, key: "too_poor", text: "You cannot pay.", rule: "G-2.1" },
      { kind: TemplateKind.TERM, key: "red", text: "crimson" },
    ],
  }),
);

describe("the book of a game", () => {
  test("chapters hold their rules, shelves their groups in order", () => {
    const book = bookOf(words);
    expect(book.chapters.map(({ head, parts }) => [head.rule, parts.length])).toEqual([
      ["G-1", 1],
      ["G-2", 2],
    ]);
    expect(book.shelves[0]?.groups.map(({ key, items }) => [key, items.map((item) => item.id)])).toEqual([
      ["red", ["owl", "fox"]],
      ["blue", ["cat"]],
    ]);
    expect(book.size).toBe(5 + 3 + 1 + 1);
  });

  test("all words must fit; a chapter that fits is shown whole; a group's name counts", () => {
    expect(bookOf(words, "PLAY rest").chapters.map(({ parts }) => parts.length)).toEqual([2]);
    expect(bookOf(words, "most").chapters.map(({ head }) => head.rule)).toEqual(["G-1"]);
    expect(bookOf(words, "crimson").shelves[0]?.size).toBe(2);
    expect(bookOf(words, "G-2.2").shelves[0]?.size).toBe(1);
    expect(bookOf(words, "zebra").size).toBe(0);
  });

  test("a rule of some cards names them, a rule of all names none", () => {
    expect(usersOf(words, "G-2.2").map((item) => item.id)).toEqual(["cat"]);
    expect(usersOf(words, "G-2.1")).toEqual([]);
  });

  test("every kind of link finds its entry", () => {
    expect(["G-2.1", "cards", "owl", "too_poor", "terms", "nothing"].map((section) => entryOf(words, section))).toEqual([
      "G-2.1",
      "cards",
      "cards.owl",
      "refusals.too_poor",
      "terms",
      null,
    ]);
  });
});
