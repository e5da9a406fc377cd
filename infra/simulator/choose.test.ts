import { describe, expect, it } from '@jest/globals';

import { chooseCases, type Choice } from './choose.ts';
import { routers, type Scenario } from './scenario.ts';

const scenarios: readonly Scenario[] = [
  { name: 'loop1', path: routers(1) },
  { name: 'loop12', path: routers(2), families: [4] },
  { name: 'late', path: routers(1), checks: ['ping'] },
];

function chosen(choice: Choice): readonly string[] | string {
  const cases = chooseCases(scenarios, choice);
  return typeof cases === 'string'
    ? cases
    : cases.map(({ scenario: { name }, family, check }) => `${name} ${family} ${check}`);
}

describe('the cases of a run of the simulator', () => {
  it('are those that every flag allows', () => {
    expect(chosen({})).toHaveLength(8 + 4 + 2);
    expect(chosen({ only: ['=loop1', 'lat'], family: 6, check: 'ping' })).toEqual(['loop1 6 ping', 'late 6 ping']);
    expect(chosen({ only: ['loop1'], check: 'udp' })).toEqual(['loop1 4 udp', 'loop1 6 udp', 'loop12 4 udp']);
  });

  it.each<readonly [Choice, string]>([
    [{ family: 5 }, 'invalid --family "5"; expected 4 or 6'],
    [{ check: 'sctp' }, 'unknown --protocol "sctp"; expected one of icmp, udp, tcp, ping'],
    [{ only: ['loop', 'nothing'] }, 'unknown --only "nothing"; no scenario has it in its name'],
    [{ only: ['=loop'] }, 'unknown --only "=loop"; no scenario has that name'],
    [{ only: ['loop12'], family: 6 }, 'no scenario matches all of the given flags'],
  ])('cannot be those of %j', (choice, message) => {
    expect(chosen(choice)).toBe(message);
  });
});
