import { describe, expect, it } from '@jest/globals';

import { multipath, trace } from '../../../test/results.ts';
import { tracesOf, type Trace } from '../../traceroute/trace.ts';
import { comparePaths } from './compare-paths.ts';

/** A search for all paths with one router at each hop, each asked with so many of 16 flows. */
function searched(routers: readonly string[], flows = 6): Trace {
  const all = [...routers, '203.0.113.1'];
  const links = all.map((ip, index) => `${all[index - 1] ?? 'probe'} > ${ip} ${flows}/${flows}`);
  const paths = Array.from({ length: 16 }, () => [0]);
  const result = trace(
    all.map((ip) => `${ip} 5`),
    { multipath: { ...multipath(links), paths }, stopReason: 'completed' },
  );
  const { result: outcome, error, ...fields } = result;
  const probe = { probe: 'fra-1', outcome: 'success', result: { ...fields, result: outcome, error } };
  return tracesOf([probe as unknown as Trace['probeResult']])[0]!;
}

const path = ['198.51.100.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'];
const other = ['198.51.100.9', '192.0.2.11', '192.0.2.12', '192.0.2.13'];

describe('two searches for all paths', () => {
  it.each([
    ['changed', 'every router is another one', path, other, 6],
    ['changed', 'the routers of several hops in a row are', path, [path[0]!, ...other.slice(1)], 6],
    ['unsure', 'that of one hop is, which few flows asked', path, path.with(2, other[2]!), 6],
    ['unsure', 'every router is another one, and few flows asked', path, other, 2],
    ['same', 'no router is', path, path, 6],
  ] as const)('are %s if %s', (relation, _reason, before, after, flows) => {
    expect(comparePaths(searched(before, flows), searched(after, flows)).relation).toBe(relation);
  });
});
