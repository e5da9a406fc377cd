import { isIP, isIPv6 } from 'node:net';

import { escapeText, type LookUpPlace, type Me, type NameLookup } from '@vantage/contract';

import { canonicalAddress, clientAddress } from '../client-address.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Endpoint } from './endpoint.ts';

/** Longest time a caller waits for the name of its address. */
const REVERSE_TIMEOUT_MS = 500;

export interface MeOptions {
  readonly lookUpPlace: LookUpPlace;
  readonly names: NameLookup;
  /** False for private, loopback and other special addresses: nothing is looked up for them. */
  readonly isPublicAddress: (address: string) => boolean;
  readonly limit: Limit;
}

export function showCaller(options: MeOptions): Endpoint {
  return {
    path: '/me',
    method: 'GET',
    scope: 'read',
    limit: options.limit,
    answer: async (request, response) => {
      const body = await describe(clientAddress(request), options);
      response.set('Cache-Control', 'no-store').json(body);
    },
  };
}

async function describe(ip: string, { lookUpPlace, names, isPublicAddress }: MeOptions): Promise<Me> {
  const known = isPublicAddress(ip);
  const place = known ? lookUpPlace(ip) : undefined;
  const { hostname, hostnameVerified } = known ? await nameOf(ip, names) : NAMELESS;
  const family = isIP(ip);
  return {
    ip,
    hostname,
    hostnameVerified,
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

type CallerName = Pick<Me, 'hostname' | 'hostnameVerified'>;

const NAMELESS: CallerName = { hostname: null, hostnameVerified: null };

/**
 * The PTR name that leads back to the address, else the first one: a PTR record is its owner's claim. What is not answered
 * in time is null. A resolver that ignores the signal costs nothing more.
 */
async function nameOf(ip: string, { reverse, forward }: NameLookup): Promise<CallerName> {
  const signal = AbortSignal.timeout(REVERSE_TIMEOUT_MS);
  const timeUp = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const inTime = (answer: Promise<readonly string[] | null>): Promise<readonly string[] | null> =>
    // An aborted look-up is empty too, and proves nothing.
    Promise.race([answer.then((list) => (signal.aborted ? null : list)).catch(() => null), timeUp]);

  const names = (await inTime(reverse(ip, signal))) ?? [];
  const [first] = names;
  if (first === undefined) return NAMELESS;
  const family = isIPv6(ip) ? 6 : 4;
  const answers = await Promise.all(names.map((name) => inTime(forward(name, family, signal))));
  const verified = answers.findIndex((addresses) => addresses?.some((address) => canonicalAddress(address) === ip));
  const hostname = escapeText(names[verified] ?? first, 253);
  return { hostname, hostnameVerified: verified >= 0 || (answers[0] === null ? null : false) };
}
