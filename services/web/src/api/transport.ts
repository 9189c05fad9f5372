import { createConnectTransport } from "@connectrpc/connect-web";

/** Every call goes to the page's own origin; the session travels as a cookie. */
export const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  // Unary calls that hang are worse than ones that fail; streams set their own signal.
  defaultTimeoutMs: 15_000,
});
