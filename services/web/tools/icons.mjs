// Picks the icons that are used (our name to game-icons' name) out of the whole set, which is far too big: those of all
// pages from src/icons.json, those of one game from src/games/<game>/icons.json, so that a page loads no other's.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

import svgpath from "svgpath";

const { icons } = JSON.parse(readFileSync("node_modules/@iconify-json/game-icons/icons.json", "utf8"));

function pick(source, target) {
  const lines = [];
  for (const [name, picked] of Object.entries(JSON.parse(readFileSync(source, "utf8")))) {
    const icon = icons[picked];
    if (icon === undefined) throw new Error(`game-icons has no "${picked}" (for "${name}" in ${source})`);
    const paths = [...icon.body.matchAll(/ d="([^"]+)"/g)].map((match) => match[1]);
    if (paths.length === 0) throw new Error(`"${picked}" is not made of paths`);
    lines.push(`  ${JSON.stringify(name)}: ${JSON.stringify(svgpath(paths.join("")).round(0).toString())},`);
  }
  writeFileSync(
    target,
    `// Made by tools/icons.mjs from game-icons.net (CC BY 3.0). One path each, in a box of 512 x 512.\n` +
      `export const ICONS = {\n${lines.join("\n")}\n} as const;\nexport type IconName = keyof typeof ICONS;\n`,
  );
}

mkdirSync("src/gen", { recursive: true });
pick("src/icons.json", "src/gen/icons.ts");
for (const game of readdirSync("src/games")) {
  const source = `src/games/${game}/icons.json`;
  if (existsSync(source)) pick(source, `src/gen/icons_${game}.ts`);
}
