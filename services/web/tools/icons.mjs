// Picks the icons that are used (src/icons.json: our name to game-icons' name) out of the whole set, which is far too big.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import svgpath from "svgpath";

const wanted = JSON.parse(readFileSync("src/icons.json", "utf8"));
const { icons } = JSON.parse(readFileSync("node_modules/@iconify-json/game-icons/icons.json", "utf8"));
const lines = [];
for (const [name, source] of Object.entries(wanted)) {
  const icon = icons[source];
  if (icon === undefined) throw new Error(`game-icons has no "${source}" (for "${name}" in src/icons.json)`);
  const paths = [...icon.body.matchAll(/ d="([^"]+)"/g)].map((match) => match[1]);
  if (paths.length === 0) throw new Error(`"${source}" is not made of paths`);
  lines.push(`  ${JSON.stringify(name)}: ${JSON.stringify(svgpath(paths.join("")).round(0).toString())},`);
}
mkdirSync("src/gen", { recursive: true });
writeFileSync(
  "src/gen/icons.ts",
  `// Made by tools/icons.mjs from game-icons.net (CC BY 3.0). One path each, in a box of 512 x 512.\n` +
    `export const ICONS = {\n${lines.join("\n")}\n} as const;\nexport type IconName = keyof typeof ICONS;\n`,
);
