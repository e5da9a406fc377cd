import { createClient, type Client } from '@vantage/client';

import { openKeyHolder, withKey, type KeyHolder } from './api-key.ts';
import { noteServiceTime } from './clock/service-clock.ts';

/** The service that serves this page. */
export interface Service {
  /** Base URL configured by the operator, for links that are used outside of the page. */
  readonly publicUrl: string;
  /** Path of the base URL: empty, or `/net`. */
  readonly basePath: string;
  readonly client: Client;
  readonly keys: KeyHolder;
  /** Sends a request with a key, and rejects with its problem or error. */
  readonly tryKey: (key: string) => Promise<void>;
  /** Prefixes a path of the service with `basePath`: `/probes` becomes `/net/probes`. */
  readonly path: (path: string) => string;
}

export function openService(): Service {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="vantage-url"]');
  const publicUrl = meta?.content ?? location.origin;
  const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const baseUrl = `${location.origin}${basePath}`;
  const keys = openKeyHolder(async (...args) => {
    const response = await fetch(...args);
    noteServiceTime(response);
    return response;
  });
  return {
    publicUrl,
    basePath,
    // Requests go to the origin of the page, whatever the configured base URL is.
    client: createClient({ baseUrl, fetch: keys.fetch }),
    keys,
    tryKey: async (key) => {
      await createClient({ baseUrl, fetch: (input, init = {}) => fetch(input, withKey(key, init)) }).me();
    },
    path: (path) => `${basePath}${path}`,
  };
}
