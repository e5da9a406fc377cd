import type { RawFile } from '../file/read-file.ts';
import type { RawModule } from '../file/shape.ts';
import { planDns } from './dns.ts';
import { planHttp } from './http.ts';
import { planIcmp } from './icmp.ts';
import type { Module, ModuleRefusal } from './module.ts';
import { collectRefusals, type ReadText, type Refusals } from './refusals.ts';
import { planTcp } from './tcp.ts';

const PROBERS = 'icmp, tcp, http, dns, traceroute';

export interface PlannedModules {
  /** Usable modules by name. */
  readonly usable: ReadonlyMap<string, Module>;
  /** Refusals by the name of the module, at least one each. */
  readonly refused: ReadonlyMap<string, readonly ModuleRefusal[]>;
  /** Options of usable modules for which scrapes will be refused. */
  readonly warnings: readonly ModuleRefusal[];
}

/** Functions of the caller that planning uses. */
export interface PlanSources {
  /** Reads the files that modules name. */
  readonly readText: ReadText;
  /** Why the target policy refuses to ask about a name; undefined if it does not. */
  readonly questionFault: (name: string) => string | undefined;
}

/** Separates the modules that can be run from those with an option that prevents it. */
export function planModules({ modules, lineOf }: RawFile, { readText, questionFault }: PlanSources): PlannedModules {
  const usable = new Map<string, Module>();
  const refused = new Map<string, readonly ModuleRefusal[]>();
  const warnings: ModuleRefusal[] = [];
  for (const [name, raw] of modules) {
    const lineOfOption = (owner: object, key: string): number => {
      const line = lineOf(owner, key);
      return line > 1 ? line : lineOf(modules, name);
    };
    const refusals = collectRefusals(name, lineOfOption, readText);
    const module = plan(name, lineOf(modules, name), raw, refusals);
    if (refusals.list.length > 0 || module === undefined) {
      refused.set(name, refusals.list);
      continue;
    }
    usable.set(name, module);
    const reason = module.prober === 'dns' ? questionFault(module.queryName) : undefined;
    if (reason === undefined) continue;
    warnings.push({ module: name, line: lineOfOption(raw.dns!, 'query_name'), option: 'dns.query_name', reason });
  }
  return { usable, refused, warnings };
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
