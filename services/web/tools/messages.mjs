// Checks what the interface says: all languages have the same keys and arguments, every key that is used exists, every
// key that exists is used, and no markup holds a text of its own. Prints what is wrong; the exit code tells whether.
import { readFileSync, readdirSync } from "node:fs";
import { basename, join, relative } from "node:path";

import { parse as parseMessage, TYPE } from "@formatjs/icu-messageformat-parser";
import { parse } from "svelte/compiler";

const BASE = "en";
const OTHERS = ["fi", "el"];
// Names and what is said the same in every language.
const SAME = /Grimoire|game-icons\.net|Ed25519|HMAC|SHA-256|JSON|CC BY 3\.0|Apache-2\.0/g;
const SPOKEN = new Set(["aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "title", "placeholder", "alt", "label"]);
// What a program says to a shell or a file is the same in every language.
const CODE = new Set(["code", "pre", "kbd", "samp"]);
const findings = [];

function* files(folder, end) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "gen") yield* files(path, end);
    } else if (end.test(entry.name) && !/\.test\./.test(entry.name)) yield path;
  }
}

function catalogue(language) {
  const texts = new Map();
  for (const path of files(join("src/i18n", language), /\.json$/)) {
    const area = basename(path, ".json");
    for (const [key, text] of Object.entries(JSON.parse(readFileSync(path, "utf8")))) {
      if (!key.startsWith(`${area}.`)) findings.push(`${path}: "${key}" belongs elsewhere`);
      if (texts.has(key)) findings.push(`${path}: "${key}" is written twice`);
      if (typeof text !== "string" || text.trim() === "") findings.push(`${path}: "${key}" has no text`);
      texts.set(key, text);
    }
  }
  return texts;
}

/** Names of a message's arguments, with what they must be. */
function argumentsOf(elements, found = new Set()) {
  for (const element of elements) {
    if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
    found.add(element.value);
    for (const option of Object.values(element.options ?? {})) argumentsOf(option.value, found);
  }
  return found;
}

function parsed(language, key, text) {
  try {
    return [...argumentsOf(parseMessage(text, { ignoreTag: true }))].sort().join(", ");
  } catch (error) {
    findings.push(`${language}: "${key}" is no ICU message: ${error.message}`);
    return null;
  }
}

const base = catalogue(BASE);
for (const language of OTHERS) {
  const other = catalogue(language);
  for (const [key, text] of base) {
    if (!other.has(key)) findings.push(`${language}: "${key}" is missing`);
    else {
      const [here, there] = [parsed(BASE, key, text), parsed(language, key, other.get(key))];
      if (here !== there) findings.push(`${language}: "${key}" has the arguments {${there}}, not {${here}}`);
    }
  }
  for (const key of other.keys()) if (!base.has(key)) findings.push(`${language}: "${key}" is not in ${BASE}`);
}

const areas = new Set([...base.keys()].map((key) => key.split(".")[0]));
const used = new Set();
const beginnings = new Set();
for (const path of files("src", /\.(svelte|ts)$/)) {
  const source = readFileSync(path, "utf8").replace(/^\s*(\*|\/\/).*$/gm, "");
  for (const [, key] of source.matchAll(/["'`]([a-z_]+\.[\w.]+)["'`]/g)) {
    if (!areas.has(key.split(".")[0])) continue;
    used.add(key);
  }
  for (const [, key] of source.matchAll(/\bt\(\s*["']([^"']+)["']/g)) {
    if (!base.has(key)) findings.push(`${relative(".", path)}: there is no text "${key}"`);
  }
  for (const [, beginning] of source.matchAll(/`([a-z_]+\.[\w.]*)\$\{/g)) beginnings.add(beginning);
}
for (const key of base.keys()) {
  if (!used.has(key) && ![...beginnings].some((beginning) => key.startsWith(beginning))) {
    findings.push(`${BASE}: "${key}" is used nowhere`);
  }
}

/** Texts of a component's markup that are not from a catalogue. */
function literals(node, at, inCode = false) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const each of node) literals(each, at, inCode);
    return;
  }
  const name = node.type === "RegularElement" ? node.name : "";
  if (name === "style" || name === "script") return;
  if (node.type === "Attribute") {
    if (SPOKEN.has(node.name) && Array.isArray(node.value)) literals(node.value, at, false);
    return;
  }
  const text = node.type === "Text" ? node.data : node.type === "ExpressionTag" && node.expression.type === "Literal" ? String(node.expression.value) : "";
  if (!inCode && /\p{L}{2}/u.test(text.replace(SAME, ""))) findings.push(`${at}: the markup says "${text.trim()}"`);
  for (const key of ["fragment", "nodes", "attributes", "consequent", "alternate", "body", "fallback", "pending", "then", "catch"]) {
    literals(node[key], at, inCode || CODE.has(name));
  }
}
for (const path of files("src", /\.svelte$/)) {
  literals(parse(readFileSync(path, "utf8"), { modern: true, filename: path }).fragment, relative(".", path));
}

for (const finding of findings) console.log(finding);
process.exitCode = findings.length > 0 ? 1 : 0;
