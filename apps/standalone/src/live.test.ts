import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type CheckEvent, type CheckRequest, type Client } from '@vantage/client';

import { validatingFetch, type ValidatingFetch } from '../test/validating-fetch.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { startTargets, type Targets } from '../test/targets.ts';

const probeIds = ['demo-1', 'demo-2', 'demo-3'];

describe('live results of the whole service', () => {
  const data = temporaryFolder();
  let targets: Targets;
  let service: Service;
  let conformance: ValidatingFetch;
  let client: Client;

  beforeAll(async () => {
    targets = await startTargets(data.folder);
    service = await startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8', '--rate-limit', '100000'], {
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
    });
    conformance = await validatingFetch(service.url);
    client = createClient({ baseUrl: service.url, fetch: conformance.fetch });
  });

  afterAll(async () => {
    const status = await service?.stop();
    targets?.close();
    data.remove();
    expect(status).toBe(0);
  });

  async function watch(request: CheckRequest): Promise<readonly CheckEvent[]> {
    const { checkId } = await client.startCheck(request);
    const events: CheckEvent[] = [];
    for await (const event of client.watch(checkId)) events.push(event);
    return events;
  }

  it.each<CheckRequest>([
    { type: 'http', host: 'http://127.0.0.1:PORT/' },
    { type: 'tcp', host: '127.0.0.1', port: 0 },
    { type: 'dns', host: 'example.com' },
    { type: 'info', host: '127.0.0.1' },
    { type: 'ping', host: '127.0.0.1', options: { count: 2, interval: 200 } },
    { type: 'traceroute', host: '127.0.0.1' },
  ])('follow a $type check to its end, as documented', async (request) => {
    const host = request.host.replace('PORT', String(targets.httpPort));
    const port = request.type === 'tcp' ? { port: targets.tcpPort } : {};
    const events = await watch({ ...request, host, ...port });

    const last = events.at(-1)!;
    if (last.type !== 'completed') throw new Error('the last event is no completion');
    expect(Object.keys(last.check.results).toSorted()).toEqual(probeIds);
    expect(await client.results(last.check.testId)).toEqual(last.check);
    // The last event of each probe is its final result.
    for (const probe of probeIds) {
      const newest = events.findLast((event) => event.type === 'probe' && event.probe === probe);
      expect(newest).toMatchObject({ result: last.check.results[probe] });
    }
    const versions = events.map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    await conformance.settled();
    expect(conformance.violations).toEqual([]);
  });

  it('show what a probe does before it is done', async () => {
    const { checkId } = await client.startCheck({ type: 'udp', host: '127.0.0.1', port: targets.silentPort });
    const shown = new Set<string>();
    for await (const event of client.watch(checkId)) {
      if (event.type === 'probe' && event.result.result === 'pending' && 'port' in event.result) shown.add(event.probe);
      if (event.type === 'completed' || shown.size === probeIds.length) break;
    }

    expect([...shown].toSorted()).toEqual(probeIds);
  });

  it('survive the death of the coordinator', async () => {
    const { checkId } = await client.startCheck({ type: 'udp', host: '127.0.0.1', port: targets.silentPort });
    const { coordinator = 0 } = service.running().processes;
    let isKilled = false;
    let last: CheckEvent | undefined;
    for await (const event of client.watch(checkId)) {
      last = event;
      if (!isKilled) process.kill(coordinator, 'SIGKILL');
      isKilled = true;
    }

    expect(last).toMatchObject({ type: 'completed', check: { status: 'completed' } });
  });
});
