import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';

import { processGroup } from './process-group.ts';

describe('a group of processes', () => {
  it('has the children of children, knows their memory, and ends as one', async () => {
    const child = spawn('sh', ['-c', 'sh -c "sleep 60 & echo; wait" & wait'], { detached: true });
    await once(child.stdout, 'data');
    const group = processGroup(child.pid!);
    const exited = once(child, 'exit');

    const before = await group.members();
    const bytes = await group.residentBytes();
    await group.kill();

    expect(before).toHaveLength(3);
    expect(before).toContain(child.pid);
    expect(bytes).toBeGreaterThan(10_000);
    expect(await group.members()).toEqual([]);
    expect((await exited)[1]).toBe('SIGKILL');
  });

  it('ends without a word where there is none', async () => {
    await expect(processGroup(4_194_305).kill()).resolves.toBeUndefined();
  });
});
