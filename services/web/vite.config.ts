import { fileURLToPath } from "node:url";

import { parse } from "@formatjs/icu-messageformat-parser";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Parses the catalogues' messages once, here, so that no browser needs the parser. Texts without arguments stay texts. */
function messages(): Plugin {
  return {
    name: "messages",
    enforce: "pre",
    transform(code, id) {
      if (!/\/src\/i18n\/\w+\/\w+\.json$/.test(id)) return null;
      const texts = Object.entries(JSON.parse(code) as Record<string, string>);
      const parsed = texts.map(([key, text]) => [key, /[{']/.test(text) ? parse(text, { ignoreTag: true }) : text]);
      return { code: JSON.stringify(Object.fromEntries(parsed)), map: null };
    },
  };
}

const resolve = {
  alias: [{ find: /^@formatjs\/icu-messageformat-parser$/, replacement: "@formatjs/icu-messageformat-parser/no-parser.js" }],
  ...(process.env["VITEST"] ? { conditions: ["browser"] } : {}),
};

/** Connect's library without protobuf's JSON form, which no call of ours uses: see src/api/binary.ts. */
function binaryOnly(): Plugin {
  return {
    name: "binary-only",
    enforce: "pre",
    resolveId(source, importer) {
      const asked = source === "@bufbuild/protobuf" && importer !== undefined && importer.includes("/@connectrpc/");
      return asked ? fileURLToPath(new URL("src/api/binary.ts", import.meta.url)) : null;
    },
  };
}

/** `audit-offline.html`: the audit page for a disk, beside the built client. */
function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    async generateBundle() {
      const { offlinePage } = await import("./tools/offline.mjs");
      const source = await offlinePage({ plugins: [messages(), svelte()], resolve });
      this.emitFile({ type: "asset", fileName: "audit-offline.html", source });
    },
  };
}

export default defineConfig({
  plugins: [messages(), binaryOnly(), svelte(), offline()],
  build: {
    target: "es2022",
    // Which files a page needs: its size is checked by that (tests/web/sizes.py).
    manifest: true,
    // The gateway's CSP allows no inline script and no data: module, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 350,
  },
  worker: { format: "es" },
  resolve,
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/i18n/whole.ts"],
  },
  server: {
    // `npm run dev` beside `make run`: calls go to the real gateway.
    proxy: { "^/grimoire\\.v1\\.": { target: "http://127.0.0.1:7400", changeOrigin: true } },
  },
});
