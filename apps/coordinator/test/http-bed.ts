import { unknownPlace, type Check } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { DEFAULT_MODULES, parseModules, type PlannedModules } from '@vantage/modules';
import type { Redis } from 'ioredis';
import { pino } from 'pino';

import { createApp, type AppOptions } from '../src/app.ts';
import type { AcceptedRequest, Checks } from '../src/checks/checks.ts';
import type { SeenAnswer } from '../src/http/conformance.ts';
import { startServer, type RunningServer } from '../src/server.ts';
import { conformanceTo } from './conformance-to.ts';
import { CHECK_ID, highLimits, highTargetLimits, fakeEvaluateTarget, noMonitors, stubChecks } from './http-fakes.ts';

/** The HTTP layer on loopback, with fakes for everything below. */
export interface HttpBed {
  readonly server: RunningServer;
  readonly url: string;
  /** Every request that the HTTP layer admitted; none if the test replaces `create`. */
  readonly created: AcceptedRequest[];
  /** Checks that can be read, by id. */
  readonly stored: Map<string, Check>;
  /** Lines of the log, parsed. */
  readonly log: Record<string, unknown>[];
  /** Sends a request; rejects if the response deviates from the OpenAPI document. */
  readonly ask: (path: string, init?: Question) => Promise<Seen>;
  readonly close: () => Promise<void>;
}

/** A request with headers by name. */
export type Question = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

export type BedOptions = Partial<Omit<AppOptions, 'rateLimitRedis' | 'checks'>> & {
  /** Methods left out are fakes. */
  readonly checks?: Partial<Checks>;
  readonly rateLimitRedis?: Redis;
};

/** The modules of a service without a file. */
const defaultModules = modulesOf(DEFAULT_MODULES);

/** @throws Error if the text is invalid */
export function modulesOf(text: string): PlannedModules {
  const parsing = parseModules(text);
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing;
}

/** One list, so that its schemas are compiled once. */
const allTypes = Object.values(checkTypes);

export async function startHttpBed(options: BedOptions = {}): Promise<HttpBed> {
  const created: AcceptedRequest[] = [];
  const stored = new Map<string, Check>();
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) });
  const server = await startServer({ host: '127.0.0.1', port: 0, publicUrl: options.publicUrl }, (publicUrl) =>
    createApp({
      ...fakes(),
      log: logger,
      ...options,
      checks: { ...stubChecks(created, stored), ...options.checks },
      rateLimitRedis: options.rateLimitRedis,
      publicUrl,
    }),
  );
  const url = `http://127.0.0.1:${server.port}`;
  const faultsOf = await conformanceTo(url).catch(async (error: unknown) => {
    await server.close(0);
    throw error;
  });
  return {
    server,
    url,
    created,
    stored,
    log,
    ask: async (path, init = {}) => {
      const response = await fetch(`${url}${path}`, init);
      const text = await response.text();
      const seen: SeenAnswer = {
        method: init.method ?? 'GET',
        path,
        status: response.status,
        headers: response.headers,
        body: text,
      };
      const faults = faultsOf(seen);
      if (faults.length > 0) throw new Error(`the answer does not conform:\n${faults.join('\n')}\n${text}`);
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    },
    close: () => server.close(200),
  };
}

/** Everything below the HTTP layer that does not belong to one bed. */
function fakes(): Omit<AppOptions, 'log' | 'checks' | 'rateLimitRedis' | 'publicUrl'> {
  return {
    checkTypes: allTypes,
    live: { follow: async () => undefined },
    followers: { note: () => () => undefined },
    idempotencyStore: { claim: async () => ({ kind: 'under-way' }) },
    streamBounds: { perClient: 1e6, total: 1e6 },
    keys: { find: () => ({ refused: 'unknown' }), poll: async () => undefined },
    probes: { list: async () => ({}), agents: async () => ({}), metricsAddresses: async () => new Map() },
    monitors: noMonitors,
    readiness: async () => [],
    warnings: () => [],
    evaluateTarget: fakeEvaluateTarget,
    lookUpPlace: () => unknownPlace,
    names: { reverse: async () => [], forward: async () => [] },
    isPublicAddress: () => true,
    rateLimits: highLimits,
    targetLimits: highTargetLimits,
    modules: { current: () => defaultModules },
    scrapeNetworks: ['127.0.0.0/8', '::1'],
    trustedProxies: undefined,
    retentionSeconds: 86_400,
    version: '1.2.3',
    stopping: new AbortController().signal,
  };
}

/** A POST request with a JSON body; a string is sent as it is. */
export function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Question {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', body: text, headers: { 'Content-Type': 'application/json', ...headers } };
}

/** A tcp check of two probes, as the store returns it; `nyc-1` has its result only if the check is completed. */
export function tcpCheck(status: Check['status']): Check {
  const now = new Date().toISOString();
  const final = {
    result: 'success',
    rt: 1.5,
    resolvedIp: '192.0.2.1',
    error: null,
    startedAt: now,
    finishedAt: now,
    state: 'open',
    port: 443,
    attempts: [{ rt: 1.5, error: null }],
  };
  return {
    testId: CHECK_ID,
    type: 'tcp',
    host: 'Example.com',
    status,
    createdAt: now,
    completedAt: status === 'completed' ? now : null,
    results: { 'fra-1': final, 'nyc-1': status === 'completed' ? final : { result: 'pending' } },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
