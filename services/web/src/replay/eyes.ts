import { create } from "@bufbuild/protobuf";

import { type Viewer, ViewerKind, ViewerSchema } from "../gen/grimoire/v1/frame_pb";

/** Whose eyes, as links name them: a seat's number, `public`, or `all` once the secrets are open. */
export type Eyes = `${number}` | "public" | "all";

export function eyesOf(viewer: Viewer): Eyes {
  if (viewer.kind === ViewerKind.SEAT) return `${viewer.seat}`;
  return viewer.kind === ViewerKind.ALL ? "all" : "public";
}

export function viewerOf(eyes: Eyes): Viewer {
  if (eyes === "public") return create(ViewerSchema, { kind: ViewerKind.PUBLIC });
  if (eyes === "all") return create(ViewerSchema, { kind: ViewerKind.ALL });
  return create(ViewerSchema, { kind: ViewerKind.SEAT, seat: Number(eyes) });
}

/** What a link says; null: nothing that can be read. */
export function readEyes(text: string | null): Eyes | null {
  if (text === "public" || text === "all") return text;
  return text !== null && /^(0|[1-9][0-9]?)$/.test(text) ? (text as Eyes) : null;
}

/** The seat that these eyes sit at; null: nobody's. */
export function seatOf(eyes: Eyes): number | null {
  return eyes === "public" || eyes === "all" ? null : Number(eyes);
}
