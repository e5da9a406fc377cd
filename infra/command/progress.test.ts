import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { openProgress } from './progress.ts';

function open(isTTY: boolean, columns = 80, totalMs?: number) {
  const written: string[] = [];
  const take = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
  const terminal = { isTTY, columns, write: take };
  const length = totalMs === undefined ? {} : { totalMs };
  const progress = openProgress('bench x', { terminal, output: { write: take }, everyMs: 5, ...length });
  return { progress, written };
}

describe('the progress of a long command', () => {
  it('is a line on a terminal that is replaced, goes on without a step, and is removed at the end', async () => {
    const { progress, written } = open(true, 80, 300_000);
    progress.step('picture 1 of 2');
    const before = written.length;
    while (written.length < before + 2) await sleep(5);
    progress.stop();
    const after = written.length;
    await sleep(20);

    expect(written[0]).toBe('\u001B[2K\rbench x · 0:00 of 5:00\r');
    expect(written[before]).toMatch(/bench x: picture 1 of 2 · \d:\d\d of 5:00\r$/);
    expect(written.at(-1)).toBe('\u001B[2K\r');
    expect(written).toHaveLength(after);
    expect(written.join('')).not.toContain('\n');
  });

  it('makes room for a line of output', () => {
    const { progress, written } = open(true);
    progress.print('· a fault');
    progress.stop();

    expect(written.slice(1, 4)).toEqual(['\u001B[2K\r', '· a fault\n', expect.stringContaining('bench x')]);
  });

  it.each([
    [10, 'bench x ·'],
    [0, 'bench x · 0:00'],
  ])('fits into a terminal of %i columns', (columns, text) => {
    const { progress, written } = open(true, columns);
    progress.stop();

    expect(written[0]).toBe(`\u001B[2K\r${text}\r`);
  });

  it('is not there without a terminal, the output is', () => {
    const { progress, written } = open(false);
    progress.step('picture 1 of 2');
    progress.print('· a fault');
    progress.stop();

    expect(written).toEqual(['· a fault\n']);
  });
});
