import { isAuthority, type Module, type PlannedModules } from '@vantage/modules';
import type { Request } from 'express';

import { refusalText } from '../../modules/follow-modules.ts';
import { invalid } from '../requests/validate-request.ts';

/** Parameters of a scrape. */
export interface Scrape {
  readonly target: string;
  readonly module: Module;
  readonly debug: boolean;
  /** From the query; the module contains it too. */
  readonly hostname: string;
  /** Selection of probes, as in the body of `POST /check`. */
  readonly selection: Readonly<Record<string, unknown>>;
  /** Time until the response, milliseconds. */
  readonly budgetMs: number;
}

const DEFAULT_MODULE = 'http_2xx';
const DEFAULT_TIMEOUT_SECONDS = 120;
/** Margin for the response to arrive before Prometheus times out. */
const OFFSET_SECONDS = 0.5;
/** Equal to the longest `?wait=`. */
const MAX_BUDGET_MS = 25_000;

/** @throws HttpProblem 400 that names the parameter */
export function readScrape(request: Request, modules: PlannedModules): Scrape {
  const query = queryOf(request);
  const hostname = query.get('hostname') ?? '';
  const module = withHostname(moduleOf(query, modules), hostname);
  const target = query.get('target') ?? '';
  if (target === '') throw invalid([{ path: '?target', message: 'is required' }]);
  const debug = query.get('debug') === 'true';
  return {
    target,
    module,
    debug,
    hostname,
    selection: selectionOf(query),
    budgetMs: budgetOf(request, module.timeoutMs),
  };
}

export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
}

function moduleOf(query: URLSearchParams, { usable, refused }: PlannedModules): Module {
  const given = query.get('module') ?? '';
  const name = given === '' ? DEFAULT_MODULE : given;
  const module = usable.get(name);
  if (module !== undefined) return module;
  const [refusal] = refused.get(name) ?? [];
  const message =
    refusal === undefined
      ? `there is no module "${name}"; expected one of ${[...usable.keys()].join(', ')}`
      : refusalText(refusal);
  throw invalid([{ path: '?module', message: message.slice(0, 512) }]);
}

/** Sets the `Host` header of an http module and, as in blackbox_exporter, the name in the TLS handshake. */
function withHostname(module: Module, hostname: string): Module {
  if (hostname === '') return module;
  const refuse = (message: string): never => {
    throw invalid([{ path: '?hostname', message }]);
  };
  if (module.prober !== 'http') return refuse('is for modules of the prober http');
  if (!isAuthority(hostname)) return refuse('must be a host, or host and port');
  if (module.host !== undefined && module.host !== hostname)
    return refuse('differs from the header Host of the module');
  return { ...module, host: hostname };
}

/** Reads `probe=a&probe=b` or `probe=a,b`; a `+` in a location is written as `%2B`. */
function selectionOf(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const probes = query
    .getAll('probe')
    .flatMap((text) => text.split(','))
    .filter((id) => id !== '');
  const locations = query.getAll('location').filter((text) => text !== '');
  const limit = query.get('limit');
  return {
    ...(probes.length === 0 ? {} : { probes }),
    ...(locations.length === 0 ? {} : { locations }),
    ...(limit === null ? {} : { limit: /^\d+$/.test(limit) ? Number(limit) : limit }),
  };
}

/** The minimum of Prometheus' scrape timeout and that of the module, as in blackbox_exporter. */
function budgetOf(request: Request, moduleMs: number): number {
  const header = request.get('X-Prometheus-Scrape-Timeout-Seconds') ?? '';
  const given = header === '' ? 0 : Number(header);
  if (!Number.isFinite(given) || given < 0) {
    throw invalid([{ path: 'X-Prometheus-Scrape-Timeout-Seconds:', message: 'must be a number of seconds' }]);
  }
  const scrapeMs = ((given === 0 ? DEFAULT_TIMEOUT_SECONDS : given) - OFFSET_SECONDS) * 1_000;
  const isModulesTime = (moduleMs > 0 && moduleMs < scrapeMs) || scrapeMs < 0;
  return Math.round(Math.min(MAX_BUDGET_MS, isModulesTime ? moduleMs : scrapeMs));
}
