import type { Family } from '../../packages/contract/src/index.ts';
import { caseOf, type Case } from './compile.ts';
import type { CheckKind, Scenario } from './scenario.ts';

const FAMILIES: readonly Family[] = [4, 6];
const CHECKS: readonly CheckKind[] = ['icmp', 'udp', 'tcp', 'ping'];

export interface Choice {
  /** Parts of names, one of which a scenario's name must contain; `=name` for an exact match. */
  readonly only?: readonly string[];
  readonly family?: number | undefined;
  readonly check?: string | undefined;
}

/** @returns an error message instead if the choice has an unknown part or contains no case */
export function chooseCases(scenarios: readonly Scenario[], choice: Choice): readonly Case[] | string {
  const { only = [], family, check } = choice;
  if (family !== undefined && !FAMILIES.some((one) => one === family)) {
    return `invalid --family "${family}"; expected ${FAMILIES.join(' or ')}`;
  }
  if (check !== undefined && !CHECKS.some((one) => one === check)) {
    return `unknown --protocol "${check}"; expected one of ${CHECKS.join(', ')}`;
  }
  const unknown = only.find((part) => !scenarios.some(({ name }) => isNamed(name, part)));
  if (unknown !== undefined) {
    return `unknown --only "${unknown}"; no scenario has ${unknown.startsWith('=') ? 'that name' : 'it in its name'}`;
  }
  const cases = casesOf(scenarios, choice);
  return cases.length === 0 ? 'no scenario matches all of the given flags' : cases;
}

function isNamed(name: string, part: string): boolean {
  return part.startsWith('=') ? part.slice(1) === name : name.includes(part);
}

/** One case per chosen scenario, family and check. */
function casesOf(scenarios: readonly Scenario[], { only = [], family, check }: Choice): readonly Case[] {
  const isWanted = ({ name }: Scenario): boolean => only.length === 0 || only.some((part) => isNamed(name, part));
  const chosen = scenarios.filter(isWanted).flatMap((scenario) =>
    FAMILIES.filter((one) => one === (family ?? one) && (scenario.families ?? FAMILIES).includes(one)).flatMap((of) =>
      CHECKS.filter((one) => one === (check ?? one) && (scenario.checks ?? CHECKS).includes(one)).map((kind) => ({
        scenario,
        family: of,
        kind,
      })),
    ),
  );
  return chosen.map(({ scenario, family, kind }, number) => caseOf(scenario, number, family, kind));
}

/** Scenarios that have revealed defects; tests always run them. */
const shown: ReadonlySet<string> = new Set([
  'coreloss40',
  'coreloss40q10',
  'lastloss40',
  'sil5',
  'sil8',
  'sil5start',
  'h31',
  'h41',
  'h63max64',
  'max3',
  'eq2f7',
  'uneqf7',
  'half',
  'eq2silf7',
  'eq2labelf7',
  'flaky',
  'errfirst',
  'erramid',
  'errslow',
  'r2100',
  'r2900',
  'sat1200',
  'slowhop900',
  'slowhop1500',
  'pm1400ne',
  'pm5',
  'pmbh1300',
  'pmword0',
  'natck8',
  'udplimitf8',
  'udpreplyfar',
  'loop1',
  'echocode',
  'targetrefuses0',
  'targetrefuses13',
  'privatemiddle',
  'closed',
  'elsewhere',
  'copiesttl',
]);

/**
 * A bounded selection: scenarios that have found defects, and every nth of all, in one case each; families and
 * protocols alternate.
 */
export function shareOf(scenarios: readonly Scenario[], every: number): readonly Case[] {
  const chosen = scenarios.filter(({ name }, index) => shown.has(name) || index % every === 0);
  return chosen.map((scenario, number) => {
    const families = scenario.families ?? FAMILIES;
    const all = scenario.checks ?? CHECKS;
    // The defects that these scenarios found concerned traces, not ping.
    const checks = shown.has(scenario.name) ? all.filter((check) => check !== 'ping') : all;
    return caseOf(scenario, number, families[number % families.length]!, checks[(number >> 1) % checks.length]!);
  });
}
