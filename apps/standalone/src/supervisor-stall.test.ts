import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '@vantage/client';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';

import { startService, temporaryFolder, type Service } from '../test/service.ts';

const data = temporaryFolder();
let service: Service;

beforeAll(async () => {
  service = await startService(`${data.folder}/data`, ['--probes', '2', '--allow', '127.0.0.0/8']);
});

afterAll(async () => {
  await service.stop();
  data.remove();
});

/**
 * Stalls: one shorter than the interval of the disk watch, one longer than it and than the first restart delay, and one
 * longer than the grace period.
 */
describe.each([500, 4_000, 16_000])('a supervisor that stands still for %i ms', (ms) => {
  it('affects no client, restarts no running process, and then those that ended', async () => {
    const { redis, processes: before } = service.running();
    const client = createClient({ baseUrl: service.url, fetch: fetchAccepted });

    process.kill(service.pid, 'SIGSTOP');
    process.kill(before['demo-2']!, 'SIGKILL');
    await sleep(ms);
    const { results } = await client.check({ type: 'info', host: '127.0.0.1', probes: ['demo-1'] });
    process.kill(service.pid, 'SIGCONT');
    while ((service.running().processes['demo-2'] ?? before['demo-2']) === before['demo-2']) await sleep(50);

    expect(results['demo-1']).toMatchObject({ result: 'success' });
    const after = service.running();
    expect(after.redis).toEqual(redis);
    expect({ ...after.processes, 'demo-2': before['demo-2'] }).toEqual(before);
  });
});

describe('a supervisor that stood still', () => {
  it('says of nothing but what ended that it is started again', () => {
    expect(service.printed().match(/^.*restarting it.*$/gm)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('demo-2 exited (SIGKILL)')),
    );
  });
});
