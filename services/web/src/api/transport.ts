import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

let signedOut: (() => void) | null = null;

/** Is told when the server no longer knows who we are. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

const watchful: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) signedOut?.();
    throw error;
  }
};

/** Every call goes to the page's own origin; the session travels as a cookie. */
export const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  // Unary calls that hang are worse than ones that fail; streams set their own signal.
  defaultTimeoutMs: 15_000,
  interceptors: [watchful],
});
