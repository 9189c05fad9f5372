/**
 * The verifier as a command for Node: `node command.mjs [--not-in-log] [--tally] FILE...` prints one line of JSON a file;
 * with `--tally` one more with what all their draws together say.
 * Tests hold its verdicts against those of the other implementation.
 */
import { readFile } from "node:fs/promises";
import { argv, stdout } from "node:process";
import { gunzipSync } from "node:zlib";

import { audit, type Check, unreadable } from "./checks";
import { ExportError, readExport } from "./exportfile";
import { bestHasher } from "./hasher";
import { Tally } from "./tally";

const hasher = await bestHasher();

async function checksOf(file: Uint8Array, inLog: boolean): Promise<Check[]> {
  const checks: Check[] = [];
  try {
    for await (const step of audit(readExport(file), { hasher, inLog })) if ("status" in step) checks.push(step);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return unreadable(error.line, error.code);
  }
  return checks;
}

const tally = new Tally();

function count(checks: readonly Check[]): void {
  const shown = checks.find((check) => check.number === 4)?.shown.find((one) => one.kind === "draws");
  if (shown?.kind === "draws") tally.add(shown.rows);
}

const inLog = !argv.includes("--not-in-log");
for (const name of argv.slice(2).filter((argument) => !argument.startsWith("--"))) {
  const raw = await readFile(name);
  const found = await checksOf(name.endsWith(".gz") ? gunzipSync(raw) : raw, inLog);
  count(found);
  const checks = found.map(({ number, status, code, version, line }) => ({ number, status, code, version, line }));
  stdout.write(`${JSON.stringify({ name, checks })}\n`);
}
if (argv.includes("--tally")) stdout.write(`${JSON.stringify({ tally: tally.results() })}\n`);
