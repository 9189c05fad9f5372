// For unit tests: every text is there from the start.
import { loadTexts } from "./index.svelte";

await loadTexts();
