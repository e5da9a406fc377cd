import type { AnyCheckType, LookUpPlace, NameLookup } from '@vantage/contract';
import express, { type Express } from 'express';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

import type { Checks } from './checks/checks.ts';
import { answerNotFound, answerProblems } from './http/answer-problem.ts';
import { createCheck, readCheck } from './http/endpoints/checks.ts';
import { mount } from './http/endpoints/endpoint.ts';
import { showHealth, showReadiness, type Readiness } from './http/endpoints/health.ts';
import { showCaller } from './http/endpoints/me.ts';
import { documentation } from './http/endpoints/pages.ts';
import { listProbes } from './http/endpoints/probes.ts';
import { openExchange } from './http/exchange.ts';
import { limitRate, type Bucket } from './http/limits/rate-limit.ts';
import { createSharedWindow } from './http/limits/shared-window.ts';
import { createLinks } from './http/links.ts';
import { createDocument } from './http/openapi/document.ts';
import { createRequestReader, type JudgeTarget } from './http/requests/accept-request.ts';
import type { ProbeList } from './probes/probes.ts';

/** Requests a minute of one client, per endpoint. */
export interface RateLimits {
  readonly createCheck: number;
  readonly readCheck: number;
  readonly listProbes: number;
  readonly showCaller: number;
}

export interface AppOptions {
  readonly checkTypes: readonly AnyCheckType[];
  readonly checks: Checks;
  readonly probes: ProbeList;
  readonly readiness: Readiness;
  readonly judgeTarget: JudgeTarget;
  readonly lookUpPlace: LookUpPlace;
  /** PTR names of a caller's address. */
  readonly reverse: NameLookup['reverse'];
  /** False for private, loopback and other special addresses. */
  readonly isPublicAddress: (address: string) => boolean;
  /** Counts the limits of all coordinators; without an offline queue and with a command timeout. Nothing: in memory. */
  readonly rateLimitRedis: Redis | undefined;
  readonly rateLimits: RateLimits;
  /** Absolute http(s) URL; makes every link. */
  readonly publicUrl: string;
  /** How many proxies stand in front, or which ones. Nothing: `X-Forwarded-For` is ignored. */
  readonly trustedProxies: TrustedProxies | undefined;
  readonly retentionSeconds: number;
  /** Release of the service, semver. */
  readonly version: string;
  /** Aborted when the service stops: answers that are held are sent as they stand. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** A hop count, or addresses and CIDRs. Never “all”: then a caller could choose its address. */
export type TrustedProxies = number | readonly string[];

/** The HTTP edge: everything a caller can reach. It listens to nothing yet. */
export function createApp(options: AppOptions): Express {
  const { checkTypes, checks, probes, log, retentionSeconds } = options;
  const links = createLinks(options.publicUrl);
  const buckets = bucketsOf(options.rateLimits);
  const window = createSharedWindow(options.rateLimitRedis, log, () => performance.now());
  const limit = (bucket: Bucket) => limitRate(bucket, window, log);
  const readRequest = createRequestReader(checkTypes, options.judgeTarget);
  const document = createDocument({ checkTypes, links, buckets, retentionSeconds, version: options.version });
  const checkOptions = {
    ...{ checks, links, readRequest, retentionSeconds, stopping: options.stopping },
    ...{ limitCreate: limit(buckets.createCheck), limitRead: limit(buckets.readCheck) },
  };

  // Strict: each resource has one path, which is the one that caches, limits and the document know.
  const router = express.Router({ caseSensitive: true, strict: true });
  const endpoints = [
    createCheck(checkOptions),
    readCheck(checkOptions),
    listProbes(probes, limit(buckets.listProbes)),
    showCaller({ ...options, limit: limit(buckets.showCaller) }),
    showHealth,
    showReadiness(options.readiness),
    ...documentation(document, links, checkTypes),
  ];
  for (const endpoint of endpoints) mount(router, endpoint);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy(options.trustedProxies));
  app.use(openExchange(links, log));
  // Below the prefix of the base address, and without it for a proxy that strips it.
  if (links.basePath !== '') app.use(links.basePath, router);
  app.use(router);
  app.use(answerNotFound);
  app.use(answerProblems(links));
  return app;
}

function bucketsOf(limits: RateLimits): { readonly [Name in keyof RateLimits]: Bucket } {
  return {
    createCheck: { name: 'create-check', endpoint: 'POST /check', limit: limits.createCheck },
    readCheck: { name: 'read-check', endpoint: 'GET /check/:id/results', limit: limits.readCheck },
    listProbes: { name: 'list-probes', endpoint: 'GET /probes', limit: limits.listProbes },
    showCaller: { name: 'show-caller', endpoint: 'GET /me', limit: limits.showCaller },
  };
}

function trustProxy(trusted: TrustedProxies | undefined): number | string[] | false {
  if (trusted === undefined) return false;
  return typeof trusted === 'number' ? trusted : [...trusted];
}
