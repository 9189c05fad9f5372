import type { Manifest, OptionSchema, Preset } from "../../gen/grimoire/v1/manifest_pb";
import { OptionType } from "../../gen/grimoire/v1/manifest_pb";
import type { ShownOption } from "../../gen/grimoire/v1/quickplay_pb";
import { secondsText } from "../time";
import type { Changes } from "./begin";

/** The value of an option where these changes are made to the defaults. */
export function valueOf(schema: OptionSchema, changes: Changes): string {
  return changes[schema.name] ?? schema.default;
}

/** The changes with one more; a value that is the default is no change. */
export function withValue(changes: Changes, schema: OptionSchema, value: string): Changes {
  const { [schema.name]: _, ...rest } = changes;
  return value === schema.default ? rest : { ...rest, [schema.name]: value };
}

/** The changes that still mean something to a game: options it has, values it knows. */
export function fitting(changes: Changes, manifest: Manifest): Changes {
  const fits = manifest.options.filter((schema) => {
    const value = changes[schema.name];
    if (value === undefined) return false;
    return schema.type !== OptionType.CHOICE || schema.choices.some((choice) => choice.value === value);
  });
  return Object.fromEntries(fits.map((schema) => [schema.name, changes[schema.name] ?? schema.default]));
}

/** Whether a number is one this option takes; other kinds of options always are. */
export function isInRange(schema: OptionSchema, value: string): boolean {
  if (schema.type !== OptionType.INTEGER) return true;
  return /^-?\d{1,15}$/.test(value) && BigInt(value) >= schema.min && BigInt(value) <= schema.max;
}

/** A value in words: times in the unit people use, choices by their names. */
export function valueText(schema: OptionSchema, value: string, language: string): string {
  if (schema.unit === "s") return secondsText(Number(value), language);
  const label = schema.choices.find((choice) => choice.value === value)?.label;
  return label ?? (schema.unit === "" ? value : `${value} ${schema.unit}`);
}

function schemaOf(shown: ShownOption, manifest: Manifest | undefined): OptionSchema | undefined {
  return manifest?.options.find((option) => option.name === shown.name);
}

/** Its value is a time, which is said in the page's language and not in the game's. */
export function isTime(shown: ShownOption, manifest: Manifest | undefined): boolean {
  return schemaOf(shown, manifest)?.unit === "s";
}

/** An option as a list shows it, in words. */
export function shownText(shown: ShownOption, manifest: Manifest | undefined, language: string): string {
  const schema = schemaOf(shown, manifest);
  return schema?.unit === "s" ? valueText(schema, shown.value, language) : shown.valueLabel || shown.value;
}

/** The pace of a preset, in words: its first time option. Empty: the game has none. */
export function paceText(manifest: Manifest, preset: Preset, language: string): string {
  const schema = manifest.options.find((option) => option.unit === "s");
  if (schema === undefined) return "";
  const value = preset.options.find((option) => option.name === schema.name)?.value ?? schema.default;
  return valueText(schema, value, language);
}
