import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createContext, loadDiagnostic } from '@vantage/diagnostics';

import { createProbeContext } from './probe-context.ts';
import { fakeConfig, fakeRuntime } from '../../test/fakes.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

const config = (environment: Readonly<Record<string, string>>): ReturnType<typeof fakeConfig> =>
  fakeConfig('fra-1', 'redis://127.0.0.1:6379', environment);

describe('the probe context of a run', () => {
  it('lets only so many of them to one network, and the next end as an error that says so', async () => {
    server = createServer((socket) => socket.on('error', () => undefined).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const probeContext = createProbeContext(config({ TARGET_NETWORK_LIMIT: '2' }), fakeRuntime(), '1.2.3');
    const { run } = await loadDiagnostic('tcp');
    const params = { host: '127.0.0.1', port, options: { attempts: 1 } };

    const outcomes = [];
    for (let runs = 0; runs < 3; runs += 1) {
      outcomes.push(await run(params, createContext(probeContext(1), { budgetMs: 10_000 })));
    }

    expect(outcomes.map(({ result }) => result)).toEqual(['success', 'success', 'error']);
    expect(outcomes[2]!.error).toMatchObject({ code: 'target_rate_limited', source: 'probe' });
  });

  it('says whose they are, with the contact where there is one', () => {
    const attribution = (environment: Readonly<Record<string, string>>): unknown =>
      createProbeContext(config(environment), fakeRuntime(), '1.2.3')(1).attribution;

    expect(attribution({})).toEqual({ userAgent: 'Vantage/1.2.3', payloadTag: 'vantage' });
    expect(attribution({ CONTACT: 'noc@example.net' })).toEqual({
      userAgent: 'Vantage/1.2.3 (+noc@example.net)',
      payloadTag: 'vantage (+noc@example.net)',
    });
  });
});
