import { escapeText, type InputError } from '@vantage/contract';
import { isAuthority, type Module, type PlannedModules } from '@vantage/modules';
import type { Request } from 'express';

import { refusalText } from '../../modules/follow-modules.ts';
import { parameterFaults, queryOf } from '../requests/query-parameters.ts';

/** Parameters of a scrape. */
export interface Scrape {
  readonly target: string;
  readonly module: Module;
  readonly debug: boolean;
  /** `hostname` of the query; the module contains it, too. */
  readonly hostname: string;
  /** Selection of probes, as in the body of `POST /check`. */
  readonly selection: Readonly<Record<string, unknown>>;
  /** Time until the response, milliseconds. */
  readonly budgetMs: number;
}

/** The parameters before validation of target and selection. A faulty target or module is undefined. */
export type ScrapeReading = Omit<Scrape, 'target' | 'module'> & {
  readonly target: string | undefined;
  readonly module: Module | undefined;
  readonly errors: readonly InputError[];
};

const DEFAULT_MODULE = 'http_2xx';
const DEFAULT_TIMEOUT_SECONDS = 120;
/** Margin for the response to arrive before Prometheus times out. */
const OFFSET_SECONDS = 0.5;
/** Longest budget of a scrape, equal to the longest `?wait=`. */
const MAX_BUDGET_MS = 25_000;

const TIMEOUT_HEADER = 'X-Prometheus-Scrape-Timeout-Seconds';

const PARAMETERS = {
  once: ['target', 'module', 'limit', 'hostname', 'debug'],
  repeated: ['probe', 'location'],
} as const;

export function readScrape(request: Request, modules: PlannedModules): ScrapeReading {
  const query = queryOf(request);
  const errors = [...parameterFaults(query, PARAMETERS)];
  const refuse = (path: string, message: string): undefined => void errors.push({ path, message });
  const isRepeated = (name: string): boolean => query.getAll(name).length > 1;
  const module = isRepeated('module') ? undefined : moduleOf(query.get('module') ?? '', modules, refuse);
  const hostname = hostnameOf(query, module, refuse);
  const target = isRepeated('target') ? undefined : (query.get('target') ?? '');
  if (target === '') refuse('?target', 'is required');
  const debug = query.get('debug') ?? '';
  if (!['', 'true', 'false'].includes(debug) && !isRepeated('debug')) refuse('?debug', 'must be true or false');
  return {
    errors,
    hostname,
    debug: debug === 'true',
    target: target === '' ? undefined : target,
    module:
      module?.prober === 'http' && hostname !== ''
        ? {
            ...module,
            host: hostname,
          }
        : module,
    selection: selectionOf(query),
    budgetMs: budgetOf(request, module?.timeoutMs ?? 0, refuse),
  };
}

/** Records a fault of a parameter (path `?name`) or of a header (path `Name:`). */
type Refuse = (path: string, message: string) => undefined;

function moduleOf(given: string, { usable, refused }: PlannedModules, refuse: Refuse): Module | undefined {
  const name = given === '' ? DEFAULT_MODULE : given;
  const module = usable.get(name);
  if (module !== undefined) return module;
  const [refusal] = refused.get(name) ?? [];
  const message =
    refusal === undefined
      ? `there is no module ${JSON.stringify(escapeText(name, 128))}; expected one of ${[...usable.keys()].join(', ')}`
      : refusalText(refusal);
  return refuse('?module', message.slice(0, 512));
}

/**
 * The `Host` header for an http module and, as in blackbox_exporter, the name in the TLS handshake; empty if faulty.
 */
function hostnameOf(query: URLSearchParams, module: Module | undefined, refuse: Refuse): string {
  const hostname = query.getAll('hostname').length > 1 ? '' : (query.get('hostname') ?? '');
  const fault = hostname === '' ? undefined : hostnameFault(hostname, module);
  if (fault === undefined) return hostname;
  refuse('?hostname', fault);
  return '';
}

function hostnameFault(hostname: string, module: Module | undefined): string | undefined {
  if (module !== undefined && module.prober !== 'http') return 'is for modules of the prober http';
  if (!isAuthority(hostname)) return 'must be a host, or host and port';
  const isOther = module?.host !== undefined && module.host !== hostname;
  return isOther ? 'differs from the header Host of the module' : undefined;
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

const NO_TIME = `must be more than ${OFFSET_SECONDS}, the seconds that are left for the answer, if the module has no timeout`;

/**
 * Milliseconds for a scrape: the minimum of Prometheus' scrape timeout (by default `DEFAULT_TIMEOUT_SECONDS`) less
 * `OFFSET_SECONDS`, the timeout of the module, if it has one, and `MAX_BUDGET_MS`. If the scrape timeout is not
 * above `OFFSET_SECONDS`, that of the module replaces it; a scrape without either is refused.
 */
function budgetOf(request: Request, moduleMs: number, refuse: Refuse): number {
  const header = request.get(TIMEOUT_HEADER) ?? '';
  const given = header === '' ? 0 : Number(header);
  const isValid = Number.isFinite(given) && given >= 0;
  if (!isValid) refuse(`${TIMEOUT_HEADER}:`, 'must be a number of seconds, 0 or more');
  const scrapeMs = ((!isValid || given === 0 ? DEFAULT_TIMEOUT_SECONDS : given) - OFFSET_SECONDS) * 1_000;
  const isModulesTime = (moduleMs > 0 && moduleMs < scrapeMs) || scrapeMs <= 0;
  // Without any time no probe could measure, and each target would appear to be down.
  if (isModulesTime && moduleMs === 0) refuse(`${TIMEOUT_HEADER}:`, NO_TIME);
  return Math.round(Math.min(MAX_BUDGET_MS, isModulesTime ? moduleMs : scrapeMs));
}
