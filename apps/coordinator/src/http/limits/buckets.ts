/** The limit of one endpoint, or of several together. */
export interface Bucket {
  /** Name of the policy in headers and of the counters in Redis; a token. */
  readonly name: string;
  /** The limited endpoints in messages, such as `POST /check`. */
  readonly endpoint: string;
  /** Requests per minute of one address; a key has its own limit. */
  readonly limit: number;
  /** True if all counters are in one slot of a Redis Cluster, because requests are also counted per target. */
  readonly inOneSlot?: boolean;
}

/** Requests per minute of one client address, per bucket. */
export interface RateLimits {
  readonly createCheck: number;
  readonly readCheck: number;
  readonly followCheck: number;
  readonly showScreenshot: number;
  readonly showSummary: number;
  readonly listProbes: number;
  readonly readMonitors: number;
  readonly showCaller: number;
  readonly scrape: number;
}

/** The limits with the names under which they are counted and reported. */
export function bucketsOf(limits: RateLimits): { readonly [Name in keyof RateLimits]: Bucket } {
  return {
    createCheck: { name: 'create-check', endpoint: 'POST /check', limit: limits.createCheck, inOneSlot: true },
    readCheck: { name: 'read-check', endpoint: 'GET /check/:id/results', limit: limits.readCheck },
    followCheck: { name: 'follow-check', endpoint: 'GET /check/:id/events', limit: limits.followCheck },
    showScreenshot: {
      name: 'show-screenshot',
      endpoint: 'GET /check/:id/screenshot',
      limit: limits.showScreenshot,
    },
    showSummary: {
      name: 'show-summary',
      endpoint: 'GET /check/:id/summary, comparisons, badges, cards, embedded checks and previews of links',
      limit: limits.showSummary,
    },
    listProbes: { name: 'list-probes', endpoint: 'GET /probes and GET /probes/agents', limit: limits.listProbes },
    readMonitors: {
      name: 'monitors',
      endpoint: '/monitors, /monitors/:name, /monitors/:name/events and /metrics/monitors',
      limit: limits.readMonitors,
    },
    showCaller: { name: 'show-caller', endpoint: 'GET /me', limit: limits.showCaller },
    scrape: { name: 'scrape', endpoint: 'GET /probe, GET /sd and GET /sd/agents', limit: limits.scrape },
  };
}
