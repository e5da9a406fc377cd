import type { ModuleFault } from './file/decode.ts';
import { readFile } from './file/read-file.ts';
import { planModules, type PlannedModules, type PlanSources } from './plan/plan-modules.ts';

export type ModulesParsing =
  | ({ readonly ok: true } & PlannedModules)
  /** `faults` is never empty. */
  | { readonly ok: false; readonly faults: readonly ModuleFault[] };

/**
 * Parses a `blackbox.yml`. Without sources, modules that name files are refused, and the names of DNS queries are not
 * checked against the target policy.
 */
export function parseModules(text: string, sources: Partial<PlanSources> = {}): ModulesParsing {
  const reading = readFile(text);
  if (!reading.ok) return reading;
  return { ok: true, ...planModules(reading.file, { readText: readNone, questionFault: () => undefined, ...sources }) };
}

function readNone(path: string): never {
  throw new Error(`${path} is not read`);
}

/** The modules of a service without a file. */
export const DEFAULT_MODULES = `modules:
  http_2xx:
    prober: http
  tcp_connect:
    prober: tcp
  icmp:
    prober: icmp
  icmp_ttl5:
    prober: icmp
    timeout: 5s
    icmp:
      ttl: 5
  traceroute:
    prober: traceroute
  dns:
    prober: dns
    dns:
      query_name: .
      query_type: NS
`;
