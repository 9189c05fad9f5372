import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte()],
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
  resolve: process.env["VITEST"] ? { conditions: ["browser"] } : {},
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.ts"],
  },
  server: {
    // `npm run dev` beside `make run`: calls go to the real gateway.
    proxy: { "^/grimoire\\.v1\\.": { target: "http://127.0.0.1:7400", changeOrigin: true } },
  },
});
