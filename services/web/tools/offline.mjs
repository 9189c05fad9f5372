/** Packs the audit page into one HTML file that works from a disk: script and style inside, nothing fetched. */
import { build } from "vite";

/**
 * @param {import("vite").InlineConfig} config plugins and resolve of the main build.
 * @returns {Promise<string>} the page.
 */
export async function offlinePage(config) {
  const built = await build({
    ...config,
    configFile: false,
    publicDir: false,
    logLevel: "error",
    build: {
      target: "es2022",
      write: false,
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: "src/audit/offline.ts", output: { format: "iife", codeSplitting: false } },
    },
  });
  const { output } = Array.isArray(built) ? built[0] : built;
  const script = output.filter((file) => file.type === "chunk").map((file) => file.code);
  const style = output.filter((file) => file.type === "asset" && file.fileName.endsWith(".css")).map((file) => String(file.source));
  if (script.length !== 1) throw new Error(`the offline page has ${script.length} scripts instead of one`);
  // Within a script only these two sequences could end it or hide its end.
  const safe = script[0].replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">',
    // Whatever stands in it: this page can reach nothing.
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">",
    "<title>Grimoire</title>",
    `<style>${style.join("")}</style></head><body><div id="app"></div><script>${safe}</script></body></html>\n`,
  ].join("");
}
