import { type DescField, type DescMessage, fromBinary, ScalarType, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

import type { Slot } from "../gen/grimoire/v1/prompt_pb";

/** One thing, option or name; a number; several things; an amount or a choice for each thing. */
export type Answer = string | number | readonly string[] | Readonly<Record<string, string | number>>;

/** Why an answer does not fit: a text of the interface (`play.fault.<key>`) and its arguments. */
export interface Fault {
  readonly key: "none" | "some" | "some_exact" | "number" | "sum" | "sum_exact" | "order";
  readonly args: Readonly<Record<string, number>>;
}

const NONE: Fault = { key: "none", args: {} };

/** The answer to begin with, where there is a natural one. */
export function start({ kind }: Slot): Answer | undefined {
  switch (kind.case) {
    case "number":
      return kind.value.min;
    case "amounts":
      return Object.fromEntries(kind.value.refs.map((each) => [each.ref, each.min]));
    case "assign":
      return Object.fromEntries(kind.value.refs.map((each) => [each.ref, each.choices[0] ?? ""]));
    case "order":
      return [...kind.value.refs];
    case "payment":
      return [...kind.value.automatic];
    case "some":
      return [];
    default:
      return undefined;
  }
}

function isMap(answer: Answer): answer is Readonly<Record<string, number | string>> {
  return typeof answer === "object" && !Array.isArray(answer);
}

function areDifferent(answer: Answer, allowed: readonly string[]): answer is readonly string[] {
  return (
    Array.isArray(answer) && new Set(answer).size === answer.length && answer.every((ref) => allowed.includes(ref as string))
  );
}

/** Why this is no answer; null: it is one. `names`: ids of the slot's catalogue, for a `name`. */
export function fault({ kind }: Slot, answer: Answer | undefined, names: readonly string[] = []): Fault | null {
  if (answer === undefined) return NONE;
  switch (kind.case) {
    case "one":
      return typeof answer === "string" && kind.value.candidates.includes(answer) ? null : NONE;
    case "option":
      return typeof answer === "string" && kind.value.options.includes(answer) ? null : NONE;
    case "name":
      return typeof answer === "string" && names.includes(answer) ? null : NONE;
    case "some": {
      const { min, max, candidates } = kind.value;
      const fits = areDifferent(answer, candidates) && answer.length >= min && answer.length <= max;
      return fits ? null : { key: min === max ? "some_exact" : "some", args: { min, max } };
    }
    case "number": {
      const { min, max } = kind.value;
      const fits = Number.isInteger(answer) && (answer as number) >= min && (answer as number) <= max;
      return fits ? null : { key: "number", args: { min, max } };
    }
    case "amounts": {
      if (!isMap(answer)) return NONE;
      let sum = 0;
      for (const { ref, min, max } of kind.value.refs) {
        const n = answer[ref];
        if (typeof n !== "number" || !Number.isInteger(n) || n < min || n > max) return { key: "number", args: { min, max } };
        sum += n;
      }
      const { minSum, maxSum } = kind.value;
      return sum >= minSum && sum <= maxSum ? null : { key: minSum === maxSum ? "sum_exact" : "sum", args: { min: minSum, max: maxSum, sum } };
    }
    case "assign": {
      const { refs, once } = kind.value;
      if (!isMap(answer) || !refs.every(({ ref, choices }) => choices.includes(String(answer[ref])))) return NONE;
      const scarce = refs.map(({ ref }) => String(answer[ref])).filter((choice) => once.includes(choice));
      return new Set(scarce).size === scarce.length ? null : NONE;
    }
    case "order":
      return areDifferent(answer, kind.value.refs) && answer.length === kind.value.refs.length ? null : { key: "order", args: {} };
    case "payment":
      return areDifferent(answer, [...kind.value.sources, ...kind.value.automatic]) ? null : NONE;
    default:
      return NONE;
  }
}

/** The command's payload with its slots answered. Throws where the command has no such field, or it cannot take the answer. */
export function filled(schema: DescMessage, payload: Uint8Array, answers: readonly (readonly [string, Answer])[]): Uint8Array {
  const message = fromBinary(schema, payload);
  const open = reflect(schema, message);
  for (const [name, answer] of answers) {
    const field = schema.fields.find((one) => one.name === name);
    if (field === undefined) throw new Error(`${schema.name} has no field ${name}`);
    fill(open, field, answer);
  }
  return toBinary(schema, message);
}

function fill(message: ReflectMessage, field: DescField, answer: Answer): void {
  if (field.fieldKind === "list") {
    const list = message.get(field);
    list.clear();
    if (field.listKind === "message" && isMap(answer)) {
      const [thing, value] = field.message.fields;
      if (thing === undefined || value === undefined) throw new Error(`${field.name} holds no pairs`);
      for (const [ref, gets] of Object.entries(answer)) {
        const pair = reflect(field.message);
        pair.set(thing, scalar(thing, ref) as never);
        pair.set(value, scalar(value, gets) as never);
        list.add(pair);
      }
    } else if (Array.isArray(answer)) for (const ref of answer as readonly string[]) list.add(scalar(field, ref));
    else throw new Error(`${field.name} takes several`);
  } else if (typeof answer === "object") throw new Error(`${field.name} takes one`);
  else message.set(field, scalar(field, answer) as never);
}

/** A thing is named by what stands behind the kind in its ref: `slot:2` is 2, `card:ruby` is ruby. */
function scalar(field: DescField, answer: string | number): string | number | bigint | boolean {
  const name = typeof answer === "number" ? answer : answer.slice(answer.indexOf(":") + 1);
  if (field.enum !== undefined) {
    const value = field.enum.values.find((one) => one.name === name || one.number === name);
    if (value === undefined) throw new Error(`${field.name} has no ${name}`);
    return value.number;
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return String(name);
    case ScalarType.BOOL:
      return name === "true" || name === 1;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
      return BigInt(name);
    default:
      return Number(name);
  }
}
