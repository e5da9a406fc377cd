import { isIP, isIPv6 } from 'node:net';

import { escapeText, type LookUpPlace, type Me, type NameLookup } from '@vantage/contract';

import { canonicalAddress, clientAddress } from '../client-address.ts';
import type { Limit } from '../limits/rate-limit.ts';
import type { Endpoint } from './endpoint.ts';

/** Time for the PTR lookup and the lookups of the names that it finds. */
const REVERSE_TIMEOUT_MS = 500;

export interface MeOptions {
  readonly lookUpPlace: LookUpPlace;
  readonly names: NameLookup;
  /** False for private, loopback and other special addresses, which are not looked up. */
  readonly isPublicAddress: (address: string) => boolean;
  readonly limit: Limit;
}

export function showCaller(options: MeOptions): Endpoint {
  return {
    path: '/me',
    method: 'GET',
    scope: 'read',
    parameters: [],
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
 * The PTR name whose addresses include this one, else the first name: the owner of an address can write any name into
 * its PTR record. Both fields are null without a name in time; `hostnameVerified` is also null if no name is verified
 * and the first could not be looked up. The race covers resolvers that ignore the signal.
 */
async function nameOf(ip: string, { reverse, forward }: NameLookup): Promise<CallerName> {
  const signal = AbortSignal.timeout(REVERSE_TIMEOUT_MS);
  const timeUp = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const inTime = (answer: Promise<readonly string[] | null>): Promise<readonly string[] | null> =>
    // An aborted lookup resolves to an empty list, too, which is not conclusive.
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
