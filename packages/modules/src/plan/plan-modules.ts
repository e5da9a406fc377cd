import type { RawFile } from '../file/read-file.ts';
import type { RawModule } from '../file/shape.ts';
import { planDns } from './dns.ts';
import { planHttp } from './http.ts';
import { planIcmp } from './icmp.ts';
import type { Module, Refusal } from './module.ts';
import { collectRefusals, type ReadText, type Refusals } from './refusals.ts';
import { planTcp } from './tcp.ts';

const PROBERS = 'icmp, tcp, http, dns, traceroute';

export interface PlannedModules {
  /** Usable modules by name. */
  readonly usable: ReadonlyMap<string, Module>;
  /** By name, at least one entry each. */
  readonly refused: ReadonlyMap<string, readonly Refusal[]>;
}

/**
 * Separates the modules that can be run from those with an option that has no equivalent.
 *
 * @param readText reads the files that modules name
 */
export function planModules({ modules, lineOf }: RawFile, readText: ReadText): PlannedModules {
  const usable = new Map<string, Module>();
  const refused = new Map<string, readonly Refusal[]>();
  for (const [name, raw] of modules) {
    const lineOfOption = (owner: object, key: string): number => {
      const line = lineOf(owner, key);
      return line > 1 ? line : lineOf(modules, name);
    };
    const refusals = collectRefusals(name, lineOfOption, readText);
    const module = plan(name, lineOf(modules, name), raw, refusals);
    if (refusals.list.length === 0 && module !== undefined) usable.set(name, module);
    else refused.set(name, refusals.list);
  }
  return { usable, refused };
}

function plan(name: string, line: number, raw: RawModule, refusals: Refusals): Module | undefined {
  const { prober = '', timeout = 0 } = raw;
  const common = { name, line, timeoutMs: Math.max(0, timeout) };
  switch (prober) {
    case 'icmp':
      return { ...common, ...planIcmp(raw.icmp, refusals) };
    case 'traceroute':
      return { ...common, prober, family: undefined };
    case 'tcp':
      return { ...common, ...planTcp(raw.tcp, refusals) };
    case 'http':
      return { ...common, ...planHttp(raw.http, refusals) };
    case 'dns':
      return { ...common, ...planDns(raw.dns, refusals) };
    case '':
      refusals.refuse(raw, '', 'prober', `is required: one of ${PROBERS}`);
      return undefined;
    default:
      refusals.refuse(raw, '', 'prober', `"${prober}" cannot be run; expected one of ${PROBERS}`);
      return undefined;
  }
}
