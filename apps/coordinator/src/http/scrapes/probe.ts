import type { Check, Probes } from '@vantage/contract';
import {
  describeModule,
  EXPOSITION_TYPE,
  exposition,
  probeSeries,
  type AnyResult,
  type Module,
  type PlannedModules,
  type ScrapedRun,
  type ScrapeFacts,
} from '@vantage/modules';
import { evidenceByProbe, summarize, withoutFalseArrivals } from '@vantage/summary';
import { canonicalizeHost } from '@vantage/target-policy';
import type { Request, Response } from 'express';

import type { AcceptedRequest, Checks } from '../../checks/checks.ts';
import type { ProbeList } from '../../probes/registry/probe-list.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import { retryAfter } from '../answer-problem.ts';
import { apiKeyOf, callerOf } from '../caller.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { sendFresh } from '../endpoints/send-json.ts';
import { callerDigest } from '../limits/axes.ts';
import { beginCount, fulfilled } from '../limits/count-once.ts';
import type { EarlyLimit } from '../limits/rate-limit.ts';
import { targetAxes, type TargetLimits } from '../limits/target-axes.ts';
import { HttpProblem } from '../problem.ts';
import type { ValidateRequest } from '../requests/accept-request.ts';
import { invalid } from '../requests/validate-request.ts';
import { untilGone } from '../until-gone.ts';
import { debugText } from './debug-text.ts';
import { asScrapeFaults, validateScrape, type ValidatedScrape } from './validate-scrape.ts';
import type { ScrapeAccess } from './scrape-access.ts';
import { readScrape, type Scrape } from './scrape-request.ts';

export interface ProbeEndpointOptions {
  readonly modules: () => PlannedModules;
  readonly access: ScrapeAccess;
  readonly checks: Pick<Checks, 'select' | 'read'>;
  readonly probes: ProbeList;
  readonly validateRequest: ValidateRequest;
  readonly limit: EarlyLimit;
  readonly targetLimits: TargetLimits;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

/**
 * `GET /probe`: runs a check and returns its results as metrics, when all probes have finished or the time budget is
 * used up.
 */
export function probeTarget(options: ProbeEndpointOptions): Endpoint {
  const scrapes = new WeakMap<Request, ValidatedScrape>();
  return {
    path: '/probe',
    method: 'GET',
    scope: 'check',
    countRefused: options.limit.count,
    limit: async (request, response) => {
      options.limit.refuseKnown(request, response);
      // Requests with other methods are only counted: they get 405.
      if (request.method !== 'GET' && request.method !== 'HEAD') return options.limit.count(request, response);
      const refusal = options.access(request);
      if (refusal !== undefined) {
        await options.limit.count(request, response);
        throw refusal;
      }
      const reading = readScrape(request, options.modules());
      scrapes.set(request, validateScrape(reading, options.validateRequest, apiKeyOf(request)?.allow));
    },
    holdMs: (request) => scrapes.get(request)!.scrape.budgetMs,
    answer: async (request, response) => {
      const startedMs = performance.now();
      const { scrape, accepted } = scrapes.get(request)!;
      const { checkId, probes } = await start(options, scrape, accepted, request, response);
      const check = await read(options, checkId, scrape.budgetMs - (performance.now() - startedMs), response);
      // The results are gone, which must not appear as an outage of the target.
      if (check === undefined) throw new StoreUnavailable('The check of the scrape was lost');
      if (check.status === 'pending' && options.stopping.aborted) {
        throw new HttpProblem('unavailable', 'The coordinator stopped before the probes had ended.', {
          headers: retryAfter(),
        });
      }
      const places = await options.probes.list();
      const evidence = evidenceByProbe(check);
      const facts = {
        notMeasured: new Set(probes.filter((probe) => evidence.get(probe) === 'notMeasured')),
        isLiteral: isLiteral(scrape, accepted),
        elapsedMs: performance.now() - startedMs,
        pathHashes: pathHashes(scrape.module, check),
      };
      const runs = probes.map((probe) => runOf(scrape, check, places, probe, facts));
      await send(request, response, scrape, runs);
    },
  };
}

interface Started {
  readonly checkId: string;
  readonly probes: readonly string[];
}

async function start(
  { checks, limit, targetLimits }: ProbeEndpointOptions,
  { module }: Scrape,
  accepted: AcceptedRequest,
  request: Request,
  response: Response,
): Promise<Started> {
  const selected = await checks.select(accepted);
  if (selected.created === false) {
    await limit.count(request, response);
    if (selected.reason === 'invalid') throw invalid(asScrapeFaults(selected.errors, module));
    throw new HttpProblem('no-probe-available', selected.detail);
  }
  const caller = callerOf(request);
  const targets = targetAxes(accepted, selected.probes.length, caller, targetLimits);
  const { counted, ...admission } = beginCount((onLikely) =>
    limit.count(request, response, { targets, grant: selected.grant, onLikely }),
  );
  const started = await selected.start({ admission, client: callerDigest(caller) });
  if (started !== undefined) return started;
  // Throws the refusal.
  fulfilled(await counted);
  throw new StoreUnavailable('the request was not counted');
}

async function read(
  { checks, stopping }: ProbeEndpointOptions,
  checkId: string,
  waitMs: number,
  response: Response,
): Promise<Check | undefined> {
  const check = await checks.read(checkId, Math.max(0, Math.floor(waitMs)), untilGone(response, stopping));
  return check && withoutFalseArrivals(check);
}

/** True if the measured server is an address literal, which needs no resolution. */
function isLiteral({ module, target }: Scrape, { params }: AcceptedRequest): boolean {
  const server = module.prober === 'dns' ? target.replace(/^\[(.*)\](:\d+)?$|^([^:]+):\d+$/, '$1$3') : params.host;
  const read = canonicalizeHost(server, 'name');
  return read.ok && read.canonical.kind !== 'name';
}

/** Hashes of the paths in `paths.canonical` of the summary, by probe; undefined unless the module traces. */
function pathHashes({ prober }: Module, check: Check): ScrapeFacts['pathHashes'] {
  if (prober !== 'traceroute') return undefined;
  const paths = Object.entries(summarize(check, new Map()).paths?.canonical ?? {});
  return Object.fromEntries(paths.map(([probe, { hash }]) => [probe, hash]));
}

function runOf({ module }: Scrape, check: Check, places: Probes, probe: string, facts: ScrapeFacts): ScrapedRun {
  const result = (check.results[probe] ?? { result: 'pending' }) as AnyResult;
  return probeSeries(module, { probe, result, place: places[probe] }, facts);
}

async function send(request: Request, response: Response, scrape: Scrape, runs: readonly ScrapedRun[]): Promise<void> {
  const metrics = exposition(runs.flatMap(({ samples }) => samples));
  const text = scrape.debug ? debugText(runs, metrics, describeModule(scrape.module)) : metrics;
  response.set('Cache-Control', 'no-store');
  await sendFresh(request, response, scrape.debug ? 'text/plain; charset=utf-8' : EXPOSITION_TYPE, text);
}
