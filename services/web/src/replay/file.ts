import { replays } from "../api/logs";
import { asReader } from "./reader.svelte";

/** The file of a match, as far as the caller may see it. Throws what the call throws. */
export function exportOf(matchId: string): Promise<Uint8Array<ArrayBuffer>> {
  return asReader(async () => {
    const chunks: Uint8Array[] = [];
    for await (const { chunk } of replays.export({ matchId }, { timeoutMs: 60_000 })) chunks.push(chunk);
    const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  });
}

/** Gives a file to the person at the screen. */
export function saveFile(bytes: Uint8Array<ArrayBuffer>, name: string, type = "application/x-ndjson"): void {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
