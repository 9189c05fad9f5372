import type { InlineConfig } from "vite";

export function offlinePage(config: InlineConfig): Promise<string>;
