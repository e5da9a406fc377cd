import { createClient, type Client } from '@vantage/client';

/** The service that this page is of. */
export interface Service {
  /** The base address as the operator gave it: makes every link that leaves the page. */
  readonly publicUrl: string;
  /** The path of the base address: empty, or `/net`. */
  readonly basePath: string;
  readonly client: Client;
  /** A path of the service as the browser asks for it. */
  readonly path: (path: string) => string;
}

export function openService(): Service {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="vantage-url"]');
  const publicUrl = meta?.content ?? location.origin;
  const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  return {
    publicUrl,
    basePath,
    // The page asks where it came from, whatever the service calls itself.
    client: createClient({ baseUrl: `${location.origin}${basePath}`, fetch: (...args) => fetch(...args) }),
    path: (path) => `${basePath}${path}`,
  };
}
