import { integer, list, setting, type Settings } from '@vantage/settings';

import { network } from './network-kind.ts';
import { trustedProxies, typeCosts } from './setting-kinds.ts';

/** Highest value of a limit, for operators who want no limit. */
const HIGHEST_LIMIT = 1_000_000_000;

/** Settings of the limits of clients and targets, and of how clients are recognised. */
export const limitSettings = {
  rateLimitCreateCheck: rateLimit('`POST /check`', 'RATE_LIMIT_CHECK'),
  rateLimitReadCheck: rateLimit('`GET /check/:id/results`', 'RATE_LIMIT_RESULTS'),
  rateLimitFollowCheck: rateLimit('`GET /check/:id/events`', 'RATE_LIMIT_EVENTS'),
  rateLimitShowScreenshot: rateLimit('`GET /check/:id/screenshot`', 'RATE_LIMIT_SCREENSHOT'),
  rateLimitShowSummary: rateLimit(
    '`/check/:id/summary`, comparisons, badges, cards, embedded checks and previews of links together',
    'RATE_LIMIT_SUMMARY',
  ),
  rateLimitListProbes: rateLimit('`GET /probes` and `GET /probes/agents` together', 'RATE_LIMIT_PROBES'),
  rateLimitReadMonitors: rateLimit(
    '`/monitors`, `/monitors/:name`, `/monitors/:name/events` and `/metrics/monitors` together',
    'RATE_LIMIT_MONITORS',
  ),
  rateLimitShowCaller: rateLimit('`GET /me`', 'RATE_LIMIT_ME'),
  scrapeNetworks: setting({
    env: 'SCRAPE_NETWORKS',
    kind: list(network),
    default: '',
    description:
      'Addresses and CIDRs of clients that may use `GET /probe`, `GET /sd` and `GET /sd/agents` without an API key. Default: none.',
  }),
  rateLimitScrape: setting({
    env: 'RATE_LIMIT_SCRAPE',
    kind: integer(1, HIGHEST_LIMIT),
    default: '1200',
    description: 'Requests a minute of one client address to `GET /probe`, `GET /sd` and `GET /sd/agents` together.',
  }),
  targetLimit: setting({
    env: 'RATE_LIMIT_TARGET',
    kind: integer(1, HIGHEST_LIMIT),
    default: '1200',
    description:
      'Cost of the probe runs a minute at one target over all clients: a registrable domain with all names ' +
      'below it, or the /24 or /64 of a literal address. A run costs 1 for each 48 packets or 256 KiB that ' +
      'its options allow. A check above the limit is admitted if there was none in the last minute.',
  }),
  targetPortsLimit: setting({
    env: 'RATE_LIMIT_TARGET_PORTS',
    kind: integer(1, HIGHEST_LIMIT),
    default: '100',
    description: 'Different ports of one target a minute, over all clients; of URLs those other than 80 and 443.',
  }),
  clientTargetsLimit: setting({
    env: 'RATE_LIMIT_CLIENT_TARGETS',
    kind: integer(1, HIGHEST_LIMIT),
    default: '100',
    description: 'Different pairs of target and port of one client a minute; of URLs ports other than 80 and 443.',
  }),
  targetCosts: setting({
    env: 'RATE_LIMIT_COSTS',
    kind: typeCosts,
    default: '',
    description: 'Minimum cost of a probe run of a check type in `RATE_LIMIT_TARGET`, as `type=cost`.',
  }),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    kind: trustedProxies,
    description:
      'Proxies whose `X-Forwarded-For` is trusted: their number, or their addresses and CIDRs. Default: ' +
      'none; the client’s address is that of the connection.',
  }),
  eventStreamsPerClient: setting({
    env: 'EVENT_STREAMS_PER_CLIENT',
    kind: integer(1, 100_000),
    default: '32',
    description:
      'Event streams, of checks and monitors together, of one client address open at a time, on one coordinator.',
  }),
  eventStreams: setting({
    env: 'EVENT_STREAMS',
    kind: integer(1, 100_000),
    default: '5000',
    description: 'Event streams, of checks and monitors together, of all clients open at a time, on one coordinator.',
  }),
} as const satisfies Settings;

function rateLimit(endpoint: string, env: string) {
  return setting({
    env,
    kind: integer(1, HIGHEST_LIMIT),
    default: '20',
    description: `Requests a minute of one client address to ${endpoint}.`,
  });
}
