import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { certificateMint } from '@vantage/test-support/certificate-mint';
import { fetchAccepted } from '@vantage/test-support/programs/fetch-accepted';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';
import { Redis } from 'ioredis';

import { listKeys, readAll, watchWrites } from '../test/redis-contents.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

const definitions = '{monitors}:definitions';
const admin = bundledProgram('coordinator', 'admin/main');

/** Words to search for; a secret that is also sent in another form is searched for in that form, too. */
const ofModules = {
  password: ['pw-of-basic-auth', Buffer.from('someone:pw-of-basic-auth').toString('base64')],
  bearer: ['token-of-bearer'],
  authorization: ['credentials-of-authorization'],
  file: ['token-of-a-file'],
  header: ['value-of-x-api-key'],
  body: ['secret-of-a-body'],
  dialogue: ['password-of-a-dialogue'],
  grant: ['secret-of-a-grant', Buffer.from('prober:secret-of-a-grant').toString('base64')],
  parameter: ['password-in-a-parameter'],
};
/** The token that the token server issues to an agent, which caches it. */
const givenToken = ['token-that-was-given'];
const ofMonitors = { file: ['header-of-the-file'], api: ['header-of-the-api'] };
const webhooks = { delivered: ['path-of-webhook-1'], failing: ['path-of-webhook-2'] };
const signing = Buffer.alloc(32, 'signing-secret');
const ofClients = { check: ['header-of-a-client'] };

describe('a secret', () => {
  const data = temporaryFolder();
  let service: Service;
  let target: Server;
  let redis: Redis;
  let writes: Awaited<ReturnType<typeof watchWrites>>;
  let key = '';
  let privateKey: readonly string[] = [];
  const lines = createTcpServer((socket) => socket.on('error', () => socket.destroy()).write('220 ready\r\n'));
  const received: string[] = [];
  const held: (() => void)[] = [];

  const urlOf = (path: string): string => `http://127.0.0.1:${(target.address() as AddressInfo).port}${path}`;
  const secrets = (): Readonly<Record<string, readonly string[]>> => ({
    ...Object.fromEntries(Object.entries(ofModules).map(([name, words]) => [`module ${name}`, words])),
    'module private key': privateKey,
    'given token': givenToken,
    'monitor of the file': ofMonitors.file,
    'monitor of the API': ofMonitors.api,
    'webhook delivered': webhooks.delivered,
    'webhook failing': webhooks.failing,
    'webhook secret': [signing.toString('base64'), signing.toString('latin1')],
    'API key': [key, key.split('_').slice(2).join('_')],
    'check of a client': ofClients.check,
  });
  /** Names of the secrets that a text contains. */
  const foundIn = (text: string): readonly string[] =>
    Object.entries(secrets()).flatMap(([name, words]) => (words.some((word) => text.includes(word)) ? [name] : []));

  beforeAll(async () => {
    target = createServer((request, response) => {
      received.push(request.url!);
      request.resume();
      const token = JSON.stringify({ access_token: givenToken[0] });
      if (request.url === '/token') response.end(token);
      else if (request.url === '/hold') held.push(() => void response.end('ok'));
      else setTimeout(() => response.writeHead(request.url!.startsWith('/bad') ? 500 : 200).end('ok'), 50);
    }).listen(0, '127.0.0.1');
    lines.listen(0, '127.0.0.1');
    await Promise.all([once(target, 'listening'), once(lines, 'listening')]);
    const files = writeFiles();
    service = await startService(
      `${data.folder}/data`,
      ['--probes', '2', '--allow', '127.0.0.0/8', '--rate-limit', '100000'],
      {
        MODULES_FILE: files.modules,
        MONITORS_FILE: files.monitors,
        SCRAPE_NETWORKS: '127.0.0.0/8',
        WEBHOOK_SECRET: `whsec_${signing.toString('base64')}`,
        LOG_LEVEL: 'debug',
      },
    );
    const { port } = service.running().redis!;
    const password = readFileSync(`${data.folder}/data/redis/password`, 'utf8').trim();
    redis = new Redis({ host: '127.0.0.1', port, password });
    const { stdout } = spawnSync(
      process.execPath,
      [admin, 'key:add', 'all', '--scopes', 'check,read,monitor', '--data', `${data.folder}/data`],
      { encoding: 'utf8', env: programEnv() },
    );
    key = stdout.trim();
    writes = await watchWrites(redis);
    // Coordinators read a new key within seconds.
    while ((await fetch(`${service.url}/probes`, withKey('GET'))).status !== 200) await sleep(100);
  });

  afterAll(async () => {
    for (const release of held.splice(0)) release();
    writes?.stop();
    redis?.disconnect();
    await service?.stop();
    target?.closeAllConnections();
    target?.close();
    lines.close();
    data.remove();
  });

  function writeFiles(): { readonly modules: string; readonly monitors: string } {
    const mint = certificateMint();
    const { cert, key: pem } = mint.issue({ subject: '/CN=prober' });
    mint.close();
    privateKey = [pem.split('\n')[2]!];
    const write = (name: string, text: string): string => {
      writeFileSync(join(data.folder, name), text);
      return join(data.folder, name);
    };
    const token = write('token', ofModules.file[0]!);
    const files = { cert_file: write('client.pem', cert), key_file: write('client.key', pem) };
    const login = { basic_auth: { username: 'someone', password: ofModules.password[0] } };
    const modules = {
      password: { prober: 'http', http: login },
      // Its check ends soon, though nothing answers it.
      held: { prober: 'http', timeout: '2s', http: login },
      bearer: { prober: 'http', http: { bearer_token: ofModules.bearer[0] } },
      authorization: { prober: 'http', http: { authorization: { credentials: ofModules.authorization[0] } } },
      file: { prober: 'http', http: { bearer_token_file: token } },
      header: { prober: 'http', http: { headers: { 'X-Api-Key': ofModules.header[0] } } },
      body: { prober: 'http', http: { method: 'POST', body: ofModules.body[0] } },
      identity: { prober: 'http', http: { tls_config: files } },
      grant: {
        prober: 'http',
        http: {
          oauth2: {
            client_id: 'prober',
            client_secret: ofModules.grant[0],
            token_url: urlOf('/token'),
            endpoint_params: { password: ofModules.parameter[0] },
          },
        },
      },
      dialogue: {
        prober: 'tcp',
        timeout: '1s',
        tcp: { query_response: [{ expect: '^220' }, { send: ofModules.dialogue[0] }, { expect: '^250' }] },
      },
    };
    return {
      modules: write('blackbox.yml', JSON.stringify({ modules })),
      monitors: write('monitors.yml', 'monitors: {}'),
    };
  }

  /** A monitor that is bad from its first tick on. */
  const monitor = (secret: string): object => ({
    check: { type: 'http', host: urlOf('/bad'), probes: ['demo-1'], options: { headers: { Authorization: secret } } },
    every: '10s',
    alarm: { when: '1 of 1', for: 1 },
  });

  const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetchAccepted(`${service.url}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const withKey = (method: string, body?: object, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
    method,
    headers: { Authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const scrape = (module: string, target: string, probe = 'demo-1'): Promise<string> =>
    ask(`/probe?${new URLSearchParams({ module, target, probe, debug: 'true' })}`, withKey('GET'));

  it('is where the documentation says, in no answer and in no log', async () => {
    const answers: string[] = [];
    for (const module of ['password', 'bearer', 'authorization', 'file', 'header', 'body', 'identity', 'grant']) {
      answers.push(await scrape(module, urlOf('/good')));
    }
    answers.push(await scrape('dialogue', `127.0.0.1:${(lines.address() as AddressInfo).port}`));
    const ofFile = { ...monitor(ofMonitors.file[0]!), webhooks: [urlOf(`/${webhooks.delivered[0]}`)] };
    writeFileSync(join(data.folder, 'monitors.yml'), JSON.stringify({ monitors: { 'of-file': ofFile } }));
    const request = { ...monitor(ofMonitors.api[0]!), webhooks: [urlOf(`/bad/${webhooks.failing[0]}`)] };
    answers.push(await ask('/monitors/of-api', withKey('PUT', request)));
    const check = {
      type: 'http',
      host: urlOf('/good'),
      probes: ['demo-1'],
      options: { headers: { 'X-Token': ofClients.check[0] }, screenshot: false },
    };
    const answer = await ask('/check', withKey('POST', check, { 'Idempotency-Key': 'once' }));
    const { checkId } = JSON.parse(answer) as { readonly checkId: string };
    answers.push(answer, await ask(`/check/${checkId}/results?wait=25`));
    const isReceived = (words: readonly string[]): boolean => received.some((url) => url.includes(words[0]!));
    while (!isReceived(webhooks.delivered) || !isReceived(webhooks.failing)) await sleep(100);
    for (const name of ['of-file', 'of-api']) {
      answers.push(await ask(`/monitors/${name}`), await ask('/monitors'));
    }
    const left = await withoutJobs();

    const ofScrapes = Object.keys(secrets()).filter((name) => name.startsWith('module '));
    const jobs = ['p:{probe}:jobs:<id>'];

    expect(writes.families(foundIn)).toEqual({
      ...Object.fromEntries([...ofScrapes, 'check of a client'].map((name) => [name, jobs])),
      ...Object.fromEntries(
        ['monitor of the file', 'monitor of the API'].map((name) => [name, [...jobs, definitions]]),
      ),
      ...Object.fromEntries(['webhook delivered', 'webhook failing'].map((name) => [name, [definitions]])),
    });
    // One message waits for its next attempt.
    expect(await listKeys(redis, '{monitors}:webhooks:delayed')).toHaveLength(1);
    expect(left).toEqual({
      [definitions]: ['monitor of the file', 'monitor of the API', 'webhook delivered', 'webhook failing'],
    });
    const answered = answers.filter((text) => foundIn(text).length > 0);
    expect(answered).toEqual([]);
    for (const [file, text] of logs()) expect([file, foundIn(text)]).toEqual([file, []]);
  });

  it('of a job that a stopped agent has begun stays until the agent is back', async () => {
    const { 'demo-2': pid } = service.running().processes;
    const scraped = scrape('held', urlOf('/hold'), 'demo-2');
    while (held.length === 0) await sleep(20);
    process.kill(pid!, 'SIGSTOP');
    try {
      await scraped;
      const job = Object.keys(await atRest()).find((name) => name.startsWith('p:{demo-2}:jobs:'))!;
      const check = job.split(':').at(-1)!;
      while ((await redis.hget(`check:{${check}}`, 'completedAt')) === null) await sleep(100);

      expect((await atRest())[job]).toEqual(['module password']);
      process.kill(pid!, 'SIGCONT');
      while ((await redis.exists(job)) > 0) await sleep(100);
    } finally {
      process.kill(pid!, 'SIGCONT');
    }
    expect(Object.keys(await withoutJobs()).toSorted()).toEqual([definitions]);
  });

  it('that Redis has removed is on its disk until the append-only file is rewritten', async () => {
    const onDisk = (): readonly string[] => {
      const folder = `${data.folder}/data/redis/appendonlydir`;
      return readdirSync(folder).flatMap((name) => foundIn(readFileSync(join(folder, name), 'latin1')));
    };
    expect(onDisk()).toContain('module private key');
    await ask('/monitors/of-api', withKey('DELETE'));
    await redis.bgrewriteaof();
    while (onDisk().includes('module private key')) await sleep(200);
    expect(onDisk().filter((name) => name.startsWith('module '))).toEqual([]);
  });

  /** As `atRest`, at a moment when no job has a secret: monitors start checks every ten seconds. */
  async function withoutJobs(): Promise<Readonly<Record<string, readonly string[]>>> {
    for (;;) {
      const found = await atRest();
      if (!Object.keys(found).some((name) => name.startsWith('p:{'))) return found;
      await sleep(50);
    }
  }

  /** Names of the secrets in Redis, by the key that has them. */
  async function atRest(): Promise<Readonly<Record<string, readonly string[]>>> {
    const found = Object.entries(await readAll(redis)).map(([name, text]) => [name, foundIn(text)] as const);
    return Object.fromEntries(found.filter(([, names]) => names.length > 0));
  }

  function logs(): readonly (readonly [string, string])[] {
    const folder = join(data.folder, 'data/logs');
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')] as const);
    return [...files, ['output', service.printed()]];
  }
});
