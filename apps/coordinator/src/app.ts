import type { AnyCheckType, LookUpPlace, NameLookup } from '@vantage/contract';
import { openPage, type Page } from '@vantage/web';
import express, { type Express, type RequestHandler } from 'express';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import type { Checks } from './checks/checks.ts';
import type { IdempotencyStore } from './checks/create/idempotency-store.ts';
import type { Followers } from './checks/read/followers.ts';
import type { LiveChecks } from './checks/read/live-check.ts';
import { answerNotFound, answerProblems } from './http/answer-problem.ts';
import { dropForwardedPorts, trustProxy } from './http/client-address.ts';
import { requireUpgrade } from './http/endpoints/agent.ts';
import { followCheck } from './http/endpoints/check-events.ts';
import { readCheck } from './http/endpoints/checks/check-results.ts';
import { createCheck } from './http/endpoints/checks/checks.ts';
import { createCompressedCache } from './http/endpoints/compression.ts';
import { mount, type Endpoint } from './http/endpoints/endpoint.ts';
import { showHealth, showReadiness, type Readiness } from './http/endpoints/health.ts';
import { showCaller } from './http/endpoints/me.ts';
import { monitorEndpoints } from './http/endpoints/monitors/monitor-endpoints.ts';
import { documentation } from './http/endpoints/pages.ts';
import { listAgents, listProbes } from './http/endpoints/probes.ts';
import { showScreenshot } from './http/endpoints/screenshot.ts';
import { previewReader } from './http/endpoints/summary/preview.ts';
import { showShared } from './http/endpoints/summary/sharing.ts';
import type { StreamTimes } from './http/events/send-events.ts';
import { createStreamPlaces, type StreamBounds } from './http/events/stream-places.ts';
import { wellKnown, type Contacts } from './http/endpoints/well-known.ts';
import { showComparison } from './http/endpoints/summary/compare.ts';
import { showSummary } from './http/endpoints/summary/summary.ts';
import { showNothing } from './http/endpoints/web-page.ts';
import { openRequestContext } from './http/request-context.ts';
import { bucketsOf, type Bucket, type RateLimits } from './http/limits/buckets.ts';
import { limitEarly, limitRate, type EarlyLimit } from './http/limits/rate-limit.ts';
import { createSharedWindow } from './http/limits/shared-window.ts';
import type { TargetLimits } from './http/limits/target-axes.ts';
import { createLinks, type Links } from './http/links.ts';
import { createDocument } from './http/openapi/document.ts';
import type { JsonObject } from './http/openapi/json.ts';
import {
  createRequestValidator,
  requestReaderOf,
  type ValidateRequest,
  type EvaluateTarget,
} from './http/requests/accept-request.ts';
import { createPairResolver } from './http/requests/resolve-pair.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { MonitorReads, MonitorWrites } from './monitors/monitors.ts';
import { discovery } from './http/scrapes/discovery.ts';
import { probeTarget } from './http/scrapes/probe.ts';
import { createScrapeAccess } from './http/scrapes/scrape-access.ts';
import type { Modules } from './modules/follow-modules.ts';
import type { ProbeList } from './probes/registry/probe-list.ts';

export interface AppOptions {
  readonly checkTypes: readonly AnyCheckType[];
  readonly checks: Checks;
  readonly live: LiveChecks;
  readonly followers: Pick<Followers, 'note'>;
  readonly idempotencyStore: IdempotencyStore;
  readonly probes: ProbeList;
  readonly keys: KeyRing;
  readonly monitors: MonitorReads & MonitorWrites;
  readonly readiness: Readiness;
  /** True if the process serves agents. */
  readonly isGateway?: boolean;
  /** True for a process that only serves agents, without the public API. */
  readonly isGatewayOnly?: boolean;
  /** Problems that do not prevent checks, as sentences; shown by `/readyz?verbose`. */
  readonly warnings: () => readonly string[];
  readonly evaluateTarget: EvaluateTarget;
  readonly lookUpPlace: LookUpPlace;
  /** PTR lookups for a client's address, and the addresses that those names resolve to. */
  readonly names: NameLookup;
  /** False for private, loopback and other special addresses. */
  readonly isPublicAddress: (address: string) => boolean;
  /**
   * Store of the rate limits, shared by all coordinators: a connection with a command timeout and without an offline
   * queue. If undefined, limits are counted in memory.
   */
  readonly rateLimitRedis: Redis | undefined;
  /**
   * Longest wait for a count in this store, milliseconds; without a reply, requests are counted in memory for a while.
   */
  readonly rateLimitReplyMs?: number;
  readonly rateLimits: RateLimits;
  readonly targetLimits: TargetLimits;
  readonly modules: Pick<Modules, 'current'>;
  /** Addresses and CIDRs of clients that may scrape without a key. */
  readonly scrapeNetworks: readonly string[];
  readonly streamBounds: StreamBounds;
  readonly streamTimes?: Partial<StreamTimes>;
  /** Base of every link: an absolute http(s) URL. */
  readonly publicUrl: string;
  /** Number or addresses of the reverse proxies in front. If undefined, `X-Forwarded-For` is ignored. */
  readonly trustedProxies: TrustedProxies | undefined;
  /** Contacts of the operator. */
  readonly contacts?: Contacts | undefined;
  readonly retentionSeconds: number;
  /** Release of the service, semver. */
  readonly version: string;
  /** Aborted when the service stops: held requests are then answered with the current state. */
  readonly stopping: AbortSignal;
  /** Run before the endpoints; they observe requests and never answer them. */
  readonly observers?: readonly RequestHandler[];
  readonly log: Logger;
}

/** A hop count, or addresses and CIDRs. A network of all addresses among these lets clients forge their address. */
export type TrustedProxies = number | readonly string[];

/**
 * Creates the HTTP application, which does not listen yet: the whole public API, or the health endpoints alone if
 * `isGatewayOnly` is true.
 */
export function createApp(options: AppOptions): Express {
  const links = createLinks(options.publicUrl);
  const web = options.isGatewayOnly === true ? undefined : openPage(links.publicUrl);
  // Strict routing: a path that differs in case, or by a slash at its end, is another path.
  const router = express.Router({ caseSensitive: true, strict: true });
  const health = [showHealth, showReadiness(options.readiness, options.warnings)];
  const own = options.isGateway === true ? [...health, requireUpgrade] : health;
  const endpoints = options.isGatewayOnly === true ? own : [...publicEndpoints(options, links, web), ...own];
  mount(router, endpoints, options.keys);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Express answers 304 to `If-None-Match: *` even without an ETag; `sendJson` compares ETags instead.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.set('trust proxy', trustProxy(options.trustedProxies));
  if (options.trustedProxies !== undefined) app.use(dropForwardedPorts);
  for (const observer of options.observers ?? []) app.use(observer);
  app.use(openRequestContext(links, options.log));
  // Mounted with the path of the public URL, and without it for a proxy that strips the prefix.
  if (links.basePath !== '') app.use(links.basePath, router);
  app.use(router);
  if (web !== undefined) app.use(showNothing(web));
  app.use(answerNotFound);
  app.use(answerProblems(links));
  return app;
}

/** All endpoints except those for the health of the process. */
function publicEndpoints(options: AppOptions, links: Links, web: Page | undefined): readonly Endpoint[] {
  const { checkTypes, checks, probes, log, retentionSeconds } = options;
  const buckets = bucketsOf(options.rateLimits);
  const window = createSharedWindow(options.rateLimitRedis, log, () => performance.now(), options.rateLimitReplyMs);
  const limit = (bucket: Bucket) => limitRate(bucket, window, log);
  const validateRequest = createRequestValidator(checkTypes, options.evaluateTarget);
  const readRequest = requestReaderOf(validateRequest);
  const document = (): JsonObject =>
    createDocument({ checkTypes, links, buckets, retentionSeconds, version: options.version });
  const readPreview = previewReader({ ...options, limit: limit(buckets.showSummary) });
  const compressed = createCompressedCache();
  const streams = createStreamPlaces(options.streamBounds);
  const checkOptions = {
    checks,
    idempotencyStore: options.idempotencyStore,
    links,
    readRequest,
    resolvePair: createPairResolver(probes, options.evaluateTarget),
    retentionSeconds,
    stopping: options.stopping,
    compressed,
    limitCreate: limitEarly(buckets.createCheck, window, log),
    limitRead: limit(buckets.readCheck),
    targetLimits: options.targetLimits,
  };

  return [
    createCheck(checkOptions),
    readCheck(checkOptions),
    followCheck({ ...options, streams, compressed, links, limit: limit(buckets.followCheck) }),
    showScreenshot({ checks, retentionSeconds, limit: limit(buckets.showScreenshot) }),
    showSummary({ ...options, compressed, limit: limit(buckets.showSummary) }),
    showComparison({ ...options, compressed, limit: limit(buckets.showSummary) }),
    ...showShared({ ...options, links, limit: limit(buckets.showSummary) }),
    listProbes(probes, limit(buckets.listProbes), compressed),
    listAgents(probes, limit(buckets.listProbes), compressed),
    ...scrapeEndpoints(options, validateRequest, links, limitEarly(buckets.scrape, window, log)),
    ...monitorEndpoints({ ...options, streams, limit: limit(buckets.readMonitors) }),
    showCaller({ ...options, limit: limit(buckets.showCaller) }),
    ...documentation({ web, readPreview, document, links, checkTypes }),
    ...wellKnown(links, options.contacts ?? {}),
  ];
}

function scrapeEndpoints(options: AppOptions, validate: ValidateRequest, links: Links, limit: EarlyLimit): Endpoint[] {
  const scraping = {
    ...options,
    modules: options.modules.current,
    access: createScrapeAccess(options.scrapeNetworks),
    links,
    validateRequest: validate,
  };
  return [probeTarget({ ...scraping, limit }), ...discovery({ ...scraping, limit: limit.count })];
}
