import { describe, expect, it } from '@jest/globals';

import { chooseFaults, type FaultChoice } from './choose-faults.ts';
import { faults, type Fault } from './faults/index.ts';

const named = (name: string, store?: Fault['store']): Fault => ({
  name,
  ...(store && { store }),
  inject: async () => {},
});
const some = [
  named('agent killed'),
  named('agent cut off'),
  named('Sentinel killed', 'sentinel'),
  named('Redis killed'),
  named('master killed', 'cluster'),
];

function choose(choice: Partial<FaultChoice>, all: readonly Fault[] = some): readonly string[] | string {
  const chosen = chooseFaults(all, { only: '', except: undefined, store: undefined, shard: undefined, ...choice });
  return typeof chosen === 'string' ? chosen : chosen.map(({ name }) => name);
}

describe('the faults of a run', () => {
  it('are all, or those that every flag allows', () => {
    expect(choose({})).toHaveLength(5);
    expect(choose({ only: 'AGENT, master' })).toEqual(['agent killed', 'agent cut off', 'master killed']);
    expect(choose({ only: 'killed', except: 'sentinel,master' })).toEqual(['agent killed', 'Redis killed']);
    expect(choose({ store: 'single', only: 'killed' })).toEqual(['agent killed', 'Redis killed']);
    expect(choose({ store: 'cluster' })).toEqual(['master killed']);
  });

  it('are in exactly one shard each', () => {
    const shards = ['1/3', '2/3', '3/3'].map((shard) => choose({ shard }, faults) as readonly string[]);

    expect(shards.flat().toSorted()).toEqual(faults.map(({ name }) => name).toSorted());
    expect(Math.max(...shards.map(({ length }) => length))).toBeLessThanOrEqual(Math.ceil(faults.length / 3));
  });

  it.each([
    [{ shard: '3/2' }, 'invalid --shard "3/2"; expected K/N, with K from 1 to N'],
    [{ shard: 'half' }, 'invalid --shard "half"; expected K/N, with K from 1 to N'],
    [{ store: 'mysql' }, 'unknown --store "mysql"; expected one of single, sentinel, cluster'],
    [{ only: 'nothing' }, []],
  ])('cannot be %j', (choice, message) => {
    expect(choose(choice)).toEqual(message);
  });
});
