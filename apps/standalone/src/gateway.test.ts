import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Check } from '@vantage/contract';

import { foreignCa } from '../test/certificates.ts';
import {
  end,
  startGatewayService,
  type Coordinator,
  type GatewayService,
  type StartedAgent,
} from '../test/gateway-service.ts';
import { runAgent } from '../test/run-agent.ts';

let service: GatewayService;
let first: Coordinator;
let second: Coordinator;
/** A target that answers when the test releases it. */
let target: Server;
let release: () => void;
let held: Promise<void>;
let asked = 0;
/** Takes seconds, and runs during other tests. */
let folderCase: ReturnType<typeof loseFolder> | undefined;
let targetUrl: string;

beforeAll(async () => {
  target = createServer((_request, response) => {
    asked += 1;
    void held.then(() => response.end('hello'));
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  service = await startGatewayService();
  [first, second] = await Promise.all([service.startCoordinator(), service.startCoordinator()]);
  service.route(first);
});

afterAll(async () => {
  await service.stop();
  target.closeAllConnections();
  target.close();
});

function hold(): void {
  ({ promise: held, resolve: release } = Promise.withResolvers<void>());
}

async function isUp(probe: string): Promise<boolean> {
  return ['healthy', 'degraded'].includes((await service.probes())[probe]?.status ?? '');
}

async function enrol(probe: string, env: Readonly<Record<string, string>> = {}): Promise<StartedAgent> {
  const token = await service.invite(probe);
  const folder = join(service.folder, `state-${probe}`);
  const agent = service.startAgent({ VANTAGE_TOKEN: token, VANTAGE_STATE_FOLDER: folder, ...env });
  await until(async () => {
    if (agent.process.exitCode !== null) throw new Error(`the agent ended:\n${agent.log()}`);
    return isUp(probe);
  });
  return agent;
}

/** Removes the state folder of a new agent until the probe reports it as a reason of degradation, and restores it. */
async function loseFolder(probe: string): Promise<{ readonly agent: StartedAgent; readonly reason: string }> {
  const agent = await enrol(probe);
  const folder = join(service.folder, `state-${probe}`);
  renameSync(folder, `${folder}.away`);
  let reason: string | null | undefined;
  await until(async () => {
    ({ reason } = (await service.probes())[probe] ?? {});
    return reason?.includes('state folder') === true;
  });
  renameSync(`${folder}.away`, folder);
  return { agent, reason: reason! };
}

const httpCheck = (probe: string) => ({ type: 'http', host: targetUrl, probes: [probe] });

/** The result of a check from a probe; repeated if a busy machine does not complete it in time. */
async function measure(probe: string): Promise<Check['results'][string] | undefined> {
  for (;;) {
    const { results } = await service.completed(await service.startCheck(httpCheck(probe)));
    if (results[probe]?.['result'] !== 'timeout') return results[probe];
  }
}

describe('an agent with an address and a token', () => {
  it('enrols, does its work, and comes back without the token', async () => {
    hold();
    release();
    const agent = await enrol('fra-1');
    const result = await measure('fra-1');
    agent.process.kill('SIGTERM');
    const [status] = (await once(agent.process, 'exit')) as [number | null];
    await until(async () => !(await isUp('fra-1')));
    const state = join(service.folder, 'state-fra-1');
    const again = service.startAgent({ VANTAGE_STATE_FOLDER: state });
    await until(() => isUp('fra-1'));
    await end(again.process);

    expect(result).toMatchObject({ result: 'success', statusCode: 200 });
    expect(status).toBe(0);
    expect(statSync(join(state, 'key.json')).mode & 0o777).toBe(0o600);
  });

  it('is enrolled by a command, and starts without the token', async () => {
    const token = await service.invite('fra-6');
    const env = { VANTAGE_STATE_FOLDER: join(service.folder, 'state-fra-6'), VANTAGE_CA_FILE: service.caFile };
    const enrolled = await runAgent(['enrol', service.url, token], env);
    const used = { ...env, VANTAGE_STATE_FOLDER: join(service.folder, 'state-other') };
    const refused = await runAgent(['enrol', service.url, token], used);
    const agent = service.startAgent({ VANTAGE_STATE_FOLDER: env.VANTAGE_STATE_FOLDER });
    await until(() => isUp('fra-6'));
    await end(agent.process);

    expect(enrolled).toMatchObject({
      status: 0,
      output: expect.stringContaining('Probe fra-6 is enrolled at https://'),
    });
    expect(refused).toMatchObject({ status: 1, output: expect.stringContaining('The token has been used up') });
    expect(agent.log()).not.toContain('agent enrolled');
  });

  it('keeps its work while a command enrols its state folder once more', async () => {
    hold();
    release();
    const token = await service.invite('fra-9');
    const env = { VANTAGE_STATE_FOLDER: join(service.folder, 'state-fra-9'), VANTAGE_CA_FILE: service.caFile };
    const agent = service.startAgent({ ...env, VANTAGE_TOKEN: token });
    await until(() => isUp('fra-9'));
    const enrolled = await runAgent(['enrol', service.url, token], env);
    const result = await measure('fra-9');
    await end(agent.process);

    expect(agent.log()).not.toContain('has taken over');
    expect(enrolled).toMatchObject({ status: 0, output: expect.stringContaining('An agent of it is connected.') });
    expect(result).toMatchObject({ result: 'success' });
  });

  it('waits while another agent uses its state folder, and works again after that', async () => {
    const proxy = await startProxy('user:p@ss');
    const older = await enrol('fra-7', { HTTPS_PROXY: `http://user:p%40ss@127.0.0.1:${proxy.port}` });
    const newer = service.startAgent({ VANTAGE_STATE_FOLDER: join(service.folder, 'state-fra-7') });
    await until(() => older.log().includes('another agent with the key of this state folder is connected'));
    // When the second attempt from now has begun, the first one has been refused.
    const enough = proxy.connects().length + 2;
    await until(() => proxy.connects().length >= enough);
    const [retired, wasRetired] = [older, newer].map((agent) => agent.log().includes('has taken over'));
    await end(newer.process);
    const connections = (): number => older.log().split('connected to the gateway').length - 1;
    await until(() => connections() === 2);
    await until(() => isUp('fra-7'));
    await end(older.process);
    proxy.close();

    expect([retired, wasRetired]).toEqual([true, false]);
  });

  it('finishes a job whose gateway is killed, and delivers its result by another one', async () => {
    hold();
    const agent = await enrol('fra-2');
    const before = asked;
    const check = await service.startCheck(httpCheck('fra-2'));
    await until(() => asked > before);

    service.route(second);
    await end(first.process);
    release();
    const { results } = await service.completed(check);
    await until(() => isUp('fra-2'));
    const next = await service.completed(await service.startCheck(httpCheck('fra-2')));
    await end(agent.process);

    expect(results['fra-2']).toMatchObject({ result: 'success', statusCode: 200 });
    expect(asked - before).toBe(2);
    expect(next.results['fra-2']).toMatchObject({ result: 'success' });
    expect(agent.log()).toContain('no connection to the gateway');
  });

  it('is disconnected when it is suspended, gets no work, and comes back', async () => {
    hold();
    service.route(second);
    folderCase = loseFolder('fra-8');
    // The last test, which awaits this, reports the failure.
    folderCase.catch(() => undefined);
    const agent = await enrol('fra-3');
    const before = asked;
    const running = await service.startCheck(httpCheck('fra-3'));
    await until(() => asked > before);
    await service.adminHere('suspend', 'fra-3', '--reason', 'maintenance');
    const ended = (await service.completed(running)).results['fra-3'];
    release();
    await until(() => agent.log().includes('"code":4403'));
    let suspended: object | undefined;
    await until(async () => {
      const probe = (await service.probes())['fra-3'];
      suspended = probe;
      return probe?.reason?.includes('maintenance') === true;
    });
    await service.adminHere('resume', 'fra-3');
    await until(() => isUp('fra-3'));
    const result = await measure('fra-3');
    await end(agent.process);

    expect(ended).toMatchObject({
      result: 'error',
      error: { code: 'probe_suspended', message: expect.stringContaining('maintenance') },
    });
    expect(suspended).toMatchObject({ status: 'offline', reason: expect.stringContaining('maintenance') });
    expect(result).toMatchObject({ result: 'success' });
  });

  it.each([
    [
      'a certificate of another CA',
      /set VANTAGE_CA_FILE/,
      async () => ({ VANTAGE_CA_FILE: await foreignCa(service.folder) }),
    ],
    [
      'a name that the certificate does not have',
      /altnames/,
      async () => ({ VANTAGE_URL: `https://localhost:${service.port}` }),
    ],
  ])('refuses %s, also if Node accepts all, and says so', async (_reason, said, given) => {
    service.route(second);
    const token = await service.invite('fra-4');
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', VANTAGE_TOKEN: token, ...(await given()) };
    const agent = service.startAgent({
      ...env,
      VANTAGE_STATE_FOLDER: join(service.folder, `state-${_reason.length}`),
    });
    await until(() => agent.log().includes('no connection to the gateway'));
    await end(agent.process);

    expect(agent.log()).toMatch(said);
    expect(agent.log()).not.toContain('system-ca');
    expect(agent.log()).not.toContain('connected to the gateway');
  });

  it('works through a proxy that wants a login', async () => {
    hold();
    release();
    service.route(second);
    const proxy = await startProxy('user:p@ss');
    const agent = await enrol('fra-5', { HTTPS_PROXY: `http://user:p%40ss@127.0.0.1:${proxy.port}` });
    const result = await measure('fra-5');
    await end(agent.process);
    proxy.close();

    expect(proxy.connects()).toContain(`127.0.0.1:${service.port}`);
    expect(result).toMatchObject({ result: 'success' });
  });

  it('reaches an address of IPv6: directly, through a proxy at such an address, and past one by NO_PROXY', async () => {
    const address = await service.openAddress('::1');
    address.route(await service.startCoordinator({ PUBLIC_URL: address.url }));
    service.route(second);
    const proxy = await startProxy('user:p@ss', '::1');
    const on = { VANTAGE_URL: address.url };
    const through = `http://user:p%40ss@[::1]:${proxy.port}`;

    const agents = [
      await enrol('six-1', on),
      await enrol('six-2', { ...on, HTTPS_PROXY: through }),
      await enrol('six-3', { ...on, HTTPS_PROXY: through, NO_PROXY: 'example.net,::1' }),
    ];
    for (const agent of agents) await end(agent.process);
    proxy.close();

    expect(proxy.connects()).toEqual([new URL(address.url).host]);
  });

  it('finds its gateway at a process that answers no callers', async () => {
    const gateway = await service.startCoordinator({ GATEWAY: 'only' });
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(`http://127.0.0.1:${gateway.port}${path}`, { method })).status;
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const asking = request({ port: gateway.port, path: '/agent', headers }).end();
    const [answer, socket] = (await once(asking, 'upgrade')) as [IncomingMessage, Socket];
    socket.destroy();

    expect(answer.statusCode).toBe(101);
    await until(async () => (await statusOf('/readyz')) === 200);
    expect(await statusOf('/healthz')).toBe(200);
    const others = ['/', '/probes', '/me', '/docs', '/metrics'].map((path) => statusOf(path));
    expect(await Promise.all([...others, statusOf('/check', 'POST')])).toEqual([404, 404, 404, 404, 404, 404]);
  });

  it.each([
    ['no address and no Redis', { VANTAGE_URL: '' }, 'VANTAGE_URL is required'],
    ['both', { REDIS_URL: 'redis://127.0.0.1:1' }, 'exclude each other'],
    ['no token and no key', {}, 'set VANTAGE_TOKEN'],
  ])('ends with a sentence if it has %s', async (_reason, env, sentence) => {
    const agent = service.startAgent({ ...env, VANTAGE_STATE_FOLDER: join(service.folder, 'empty') });
    const [status] = (await once(agent.process, 'exit')) as [number | null];

    expect(status).toBe(1);
    expect(agent.errors()).toContain(sentence);
  });

  it('is degraded while its state folder is away', async () => {
    const { agent, reason } = await folderCase!;
    await until(async () => (await service.probes())['fra-8']?.status === 'healthy');
    await end(agent.process);

    expect(reason).toContain('state folder');
  });
});

/** A proxy by CONNECT with basic authentication (RFC 9110 section 9.3.6). */
async function startProxy(
  login: string,
  host = '127.0.0.1',
): Promise<{
  readonly port: number;
  readonly connects: () => readonly string[];
  readonly close: () => void;
}> {
  const wanted = `Basic ${Buffer.from(login).toString('base64')}`;
  const connects: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer().on('connect', (request: IncomingMessage, client: Socket) => {
    sockets.add(client);
    client.on('error', () => undefined);
    if (request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    connects.push(request.url ?? '');
    const { hostname, port } = new URL(`tcp://${request.url}`);
    const upstream = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connects: () => connects,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
