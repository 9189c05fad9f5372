/**
 * What Connect's library gets for `@bufbuild/protobuf` (vite.config.ts): this page speaks the binary form alone, so it
 * need not fetch what reads and writes protobuf's JSON.
 */
export * from "@bufbuild/protobuf";

function unspoken(): never {
  throw new Error("this page speaks the binary form of protobuf only");
}

export const fromJson = unspoken;
export const fromJsonString = unspoken;
export const toJson = unspoken;
export const toJsonString = unspoken;
