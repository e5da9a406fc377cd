import { isIP } from 'node:net';

import { escapeText, type LookUpPlace, type Me, type NameLookup } from '@vantage/contract';

import { clientAddress } from '../client-address.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Endpoint } from './endpoint.ts';

/** Longest time a caller waits for the name of its address. */
const REVERSE_TIMEOUT_MS = 500;

export interface MeOptions {
  readonly lookUpPlace: LookUpPlace;
  readonly reverse: NameLookup['reverse'];
  /** False for private, loopback and other special addresses: nothing is looked up for them. */
  readonly isPublicAddress: (address: string) => boolean;
  readonly limit: Limit;
}

export function showCaller(options: MeOptions): Endpoint {
  return {
    path: '/me',
    method: 'GET',
    limit: options.limit,
    answer: async (request, response) => {
      const body = await describe(clientAddress(request), options);
      response.set('Cache-Control', 'no-store').json(body);
    },
  };
}

async function describe(ip: string, { lookUpPlace, reverse, isPublicAddress }: MeOptions): Promise<Me> {
  const known = isPublicAddress(ip);
  const place = known ? lookUpPlace(ip) : undefined;
  const hostname = known ? await nameOf(ip, reverse) : null;
  const family = isIP(ip);
  return {
    ip,
    hostname,
    ipv4: family === 4 ? ip : null,
    ipv6: family === 6 ? ip : null,
    city: place?.city ?? null,
    region: place?.region ?? null,
    country: place?.country ?? null,
    countryCode: place?.countryCode ?? null,
    country_code: place?.countryCode ?? null,
    timezone: place?.timezone ?? null,
    isp: place?.isp ?? null,
    asn: place?.asn ?? null,
    as: place?.asn ?? null,
    org: place?.org ?? null,
    provider: place?.provider ?? null,
  };
}

/** The first PTR name, or null when there is none in time. A resolver that ignores the signal costs nothing more. */
async function nameOf(ip: string, reverse: NameLookup['reverse']): Promise<string | null> {
  const signal = AbortSignal.timeout(REVERSE_TIMEOUT_MS);
  const timeUp = new Promise<readonly string[]>((resolve) => {
    signal.addEventListener('abort', () => resolve([]), { once: true });
  });
  const names = await Promise.race([reverse(ip, signal).catch(() => []), timeUp]);
  const [name] = names;
  return name === undefined ? null : escapeText(name, 253);
}
