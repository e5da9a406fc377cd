import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it, jest } from '@jest/globals';

import { report, type Figure } from './goals.ts';

function printed(figures: readonly Figure[]): { readonly lines: readonly string[]; readonly status: number } {
  const written: string[] = [];
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const status = report(figures, undefined);
  stdout.mockRestore();
  return { lines: written.join('').trimEnd().split('\n'), status };
}

describe('the report of a benchmark', () => {
  it.each<[string, Omit<Figure, 'name' | 'unit'>, string, number]>([
    ['a goal that holds', { value: 1, atMost: 1.5, floor: 0.5 }, '(goal ≤ 1.5) holds', 0],
    [
      'a goal that its floor meets',
      { value: 2, atMost: 1.5, floor: 1.25 },
      '(goal ≤ 1.5) falls short: floor 1.25 ms',
      1,
    ],
    [
      'a goal that its floor misses',
      { value: 3, atMost: 1.5, floor: 2 },
      '(goal ≤ 1.5) falls short: floor 2 ms, short too',
      1,
    ],
    ['a goal without a floor', { value: 3, atLeast: 5 }, '(goal ≥ 5) falls short', 1],
  ])('names the floor of %s', (_what, figure, expected, status) => {
    const { lines, status: said } = printed([{ name: 'CPU', unit: 'ms', ...figure }]);

    expect(lines.at(-1)).toBe(`goal CPU: ${figure.value} ms ${expected}`);
    expect(said).toBe(status);
  });

  it('has the floor and the comparison with each figure, and all of it in the file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-goals-'));
    const stdout = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const figures = [{ name: 'CPU', value: 2, unit: 'ms', floor: 1, comparison: 'peer 3 ms' }];

    report(figures, join(folder, 'figures.json'));

    expect(stdout).toHaveBeenCalledWith('CPU: 2 ms (floor 1; peer 3 ms)\n');
    stdout.mockRestore();
    expect(JSON.parse(readFileSync(join(folder, 'figures.json'), 'utf8'))).toEqual({ figures });
    rmSync(folder, { recursive: true });
  });
});
