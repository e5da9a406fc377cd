import { createClient, type Client } from '@vantage/client';

/** The service that serves this page. */
export interface Service {
  /** Base URL configured by the operator, for links that are used outside of the page. */
  readonly publicUrl: string;
  /** Path of the base URL: empty, or `/net`. */
  readonly basePath: string;
  readonly client: Client;
  /** URL path of a path of the service. */
  readonly path: (path: string) => string;
}

export function openService(): Service {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="vantage-url"]');
  const publicUrl = meta?.content ?? location.origin;
  const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  return {
    publicUrl,
    basePath,
    // Requests go to the origin of the page, whatever the configured base URL is.
    client: createClient({ baseUrl: `${location.origin}${basePath}`, fetch: (...args) => fetch(...args) }),
    path: (path) => `${basePath}${path}`,
  };
}
