import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createAgentKey, newNonce, ORIGIN, type AgentKey } from '../../../test/agent-key.ts';
import { nowhere, quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { readAdminConfig } from '../../admin/config.ts';
import { runProbeAdmin } from '../../admin/commands.ts';
import { announcedUrl } from '../announced-url.ts';
import type { Log } from '../../redis/log.ts';
import type { AgentAccess } from './agent-access.ts';
import { createEnrolment, type AgentAdmission, type Enrolment } from './enrolment.ts';

let bed: CoreBed;
let enrolment: Enrolment;
let url: string;

beforeAll(async () => {
  bed = await startCoreBed();
  // A Redis user without commands that enrolment must not need.
  await bed.redis.call(
    'ACL',
    'SETUSER',
    'plain',
    'on',
    '>plain',
    '~*',
    '&*',
    '+@all',
    '-@admin',
    '-@dangerous',
    '+info',
  );
  url = bed.server.url.replace('redis://', 'redis://plain:plain@');
  enrolment = createEnrolment({ redis: bed.core.rateLimitRedis, origin: ORIGIN, lookUpPlace: place });
});

afterAll(async () => bed.stop());

function place(address: string) {
  return { ...nowhere(address), countryCode: 'NL', city: 'Amsterdam', isp: 'Example Transit', asn: 'AS64500' };
}

const record = ['--name', 'A', '--datacenter', 'B', '--country', 'DE', '--isp', 'C', '--asn', 'AS64496'];

interface Shown {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function admin(...args: readonly string[]): Promise<Shown> {
  const out: string[] = [];
  const err: string[] = [];
  const config = readAdminConfig({ REDIS_URL: url, PUBLIC_URL: ORIGIN });
  const code = await runProbeAdmin(args, config, { out: (line) => out.push(line), err: (line) => err.push(line) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function invite(id: string, ...more: readonly string[]): Promise<string> {
  const { out, err } = await admin('invite', id, ...record, '--json', ...more);
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { readonly token: string }).token;
}

function connect(key: AgentKey, counter: number, token?: string): Promise<AgentAdmission> {
  const nonce = newNonce();
  return enrolment.authenticate(key.prove(counter, nonce, token === undefined ? {} : { token }), nonce, '192.0.2.7');
}

const code = (admission: AgentAdmission): string => (admission.ok ? admission.state : admission.code);

async function enrolled(id: string, ...more: readonly string[]): Promise<AgentKey> {
  const key = createAgentKey(id);
  const token = await invite(id, ...more);
  expect(await connect(key, 1, token)).toMatchObject({ ok: true, enrolledNow: true });
  return key;
}

async function described(id: string): Promise<Readonly<Record<string, unknown>>> {
  const { out } = await admin('list', '--json');
  const { probes } = JSON.parse(out) as { probes: { id: string; agent: Readonly<Record<string, unknown>> }[] };
  return probes.find((probe) => probe.id === id)!.agent;
}

describe('enrolment', () => {
  it('binds the key of exactly one of fifty simultaneous agents with one token', async () => {
    const token = await invite('fifty');
    const keys = Array.from({ length: 50 }, () => createAgentKey('fifty'));

    const admissions = await Promise.all(keys.map((key) => connect(key, 1, token)));

    const codes = admissions.map(code);
    expect(codes.filter((said) => said === 'approved')).toHaveLength(1);
    expect(codes.filter((said) => said === 'token-used')).toHaveLength(49);
    const winner = keys[codes.indexOf('approved')]!;
    expect(await bed.redis.hget(redisKeys.agentKey('fifty'), 'publicKey')).toBe(winner.publicKey);
  });

  it('enrols the same key again without a second use, as after a lost answer', async () => {
    const key = createAgentKey('again');
    const token = await invite('again');

    expect(await connect(key, 1, token)).toMatchObject({ ok: true, enrolledNow: true });
    expect(await connect(key, 2, token)).toMatchObject({ ok: true, enrolledNow: false });
    expect(code(await connect(createAgentKey('again'), 1, token))).toBe('token-used');
    expect(code(await connect(key, 3))).toBe('approved');
  });

  it('replaces the key by another one if the token has more uses', async () => {
    const [first, second] = [createAgentKey('uses'), createAgentKey('uses')];
    const token = await invite('uses', '--uses', '2');

    await connect(first, 1, token);
    expect(code(await connect(second, 1, token))).toBe('approved');
    expect(code(await connect(first, 2))).toBe('unknown-key');
    expect(code(await connect(first, 3, token))).toBe('token-used');
  });

  it('refuses what is no token of the probe, and an expired one', async () => {
    const other = await invite('other-1');
    await invite('none-1');
    const expired = await invite('none-1', '--expires', '1s');
    const [key] = [createAgentKey('none-1')];
    const past = async (): Promise<boolean> => code(await connect(key, 1, expired)) === 'token-expired';
    const guessed = `vt1_none-1_${'A'.repeat(43)}`;

    expect(code(await connect(key, 1, guessed))).toBe('token-invalid');
    expect(code(await connect(key, 1, other))).toBe('token-invalid');
    expect(code(await connect(key, 1))).toBe('unknown-probe');
    // Tokens expire by the clock of Redis, which a test cannot advance: move the times of expiry into the past.
    const json = await bed.redis.hgetall(redisKeys.invitations('none-1'));
    for (const [digest, text] of Object.entries(json)) {
      await bed.redis.hset(
        redisKeys.invitations('none-1'),
        digest,
        JSON.stringify({ ...JSON.parse(text), expiresAt: 1 }),
      );
    }
    expect(await past()).toBe(true);
    expect(JSON.stringify(await bed.redis.hgetall(redisKeys.invitations('none-1')))).not.toContain(expired);
  });

  it.each([
    ['another nonce', (key: AgentKey) => [key.prove(2, newNonce()), newNonce()] as const],
    [
      'another origin',
      (key: AgentKey, nonce: string) => [key.prove(2, nonce, { origin: 'https://x.example' }), nonce] as const,
    ],
    ['another counter', (key: AgentKey, nonce: string) => [key.prove(2, nonce, { signedCounter: 3 }), nonce] as const],
    [
      'another probe',
      (key: AgentKey, nonce: string) => [{ ...key.prove(2, nonce), probeId: 'other-1' }, nonce] as const,
    ],
    [
      'a token that was exchanged',
      (key: AgentKey, nonce: string) => [{ ...key.prove(2, nonce), token: 'x' }, nonce] as const,
    ],
    [
      'a key that is no point',
      (key: AgentKey, nonce: string) => [{ ...key.prove(2, nonce), publicKey: '_'.repeat(43) }, nonce] as const,
    ],
    [
      'a counter that is no number',
      (key: AgentKey, nonce: string) => [{ ...key.prove(2, nonce), counter: 1.5 }, nonce] as const,
    ],
  ])('refuses a signature for %s', async (_reason, forged) => {
    const id = `forged-${Math.random().toString(36).slice(2, 8)}`;
    const key = await enrolled(id);
    const nonce = newNonce();

    const [proof, sent] = forged(key, nonce);

    expect(code(await enrolment.authenticate(proof, sent, '192.0.2.7'))).toBe('bad-signature');
    expect(code(await connect(key, 2))).toBe('approved');
  });
});

describe('a copied key', () => {
  it('is noticed by its counter, and the probe is degraded until a new key is enrolled', async () => {
    const key = await enrolled('copied-1');
    await bed.keepAlive('copied-1');
    await until(async () => (await bed.core.probes.list())['copied-1']?.status === 'healthy');

    expect(code(await connect(key, 2))).toBe('approved');
    expect(code(await connect(key, 2))).toBe('copied-key');

    await until(async () => (await bed.core.probes.list())['copied-1']?.status === 'degraded');
    expect((await bed.core.probes.list())['copied-1']?.reason).toContain('used in two places');
    expect(await described('copied-1')).toMatchObject({ copied: { address: '192.0.2.7' } });
    await connect(createAgentKey('copied-1'), 1, await invite('copied-1'));
    await until(async () => (await bed.core.probes.list())['copied-1']?.status === 'healthy');
    expect(code(await connect(key, 3))).toBe('unknown-key');
  });

  it('that is ahead of the agent is noticed when the agent connects', async () => {
    const key = await enrolled('ahead-1');
    expect(code(await connect(key, 1_000_000))).toBe('approved');

    expect(code(await connect(key, 2))).toBe('copied-key');
  });

  it('that is a step ahead is noticed after two more connections of the agent', async () => {
    const key = await enrolled('step-1');
    expect(code(await connect(key, 4))).toBe('approved');

    expect([code(await connect(key, 2)), code(await connect(key, 3)), code(await connect(key, 4))]).toEqual([
      'stale-counter',
      'stale-counter',
      'copied-key',
    ]);
  });

  it('is not reported for two instances of one agent that connect in the other order', async () => {
    const key = await enrolled('order-1');

    expect(code(await connect(key, 3))).toBe('approved');
    expect(code(await connect(key, 2))).toBe('stale-counter');
    expect(code(await connect(key, 4))).toBe('approved');
    expect((await described('order-1'))['copied']).toBeNull();
  });

  it('is forgotten by probe:resume, for a folder that was restored', async () => {
    const key = await enrolled('restored-1');
    await connect(key, 9);
    expect(code(await connect(key, 2))).toBe('copied-key');

    expect((await admin('resume', 'restored-1')).code).toBe(0);
    expect(code(await connect(key, 3))).toBe('approved');
    expect((await described('restored-1'))['copied']).toBeNull();
  });
});

describe('the list of agents', () => {
  it('has transport, release and state of each', async () => {
    const state = async (id: string): Promise<string | undefined> => (await bed.core.probes.agents())[id]?.state;
    await bed.addProbe('redis-1');
    await bed.keepAlive('redis-1');
    await invite('invited-1');
    const key = await enrolled('listed-1', '--approve');
    await until(async () => (await state('listed-1')) === 'waiting' && (await state('redis-1')) === 'connected');

    expect((await bed.core.probes.agents())['redis-1']).toEqual({
      transport: 'redis',
      version: '0.1.0',
      state: 'connected',
      reason: null,
    });
    expect((await bed.core.probes.agents())['invited-1']).toMatchObject({ transport: null, state: 'invited' });
    expect((await bed.core.probes.agents())['listed-1']).toEqual({
      transport: 'gateway',
      version: null,
      state: 'waiting',
      reason: expect.stringContaining('probe:approve'),
    });
    await admin('approve', 'listed-1');
    await until(async () => (await state('listed-1')) === 'offline');
    await enrolment.noteRefusal('listed-1', 'Its release 0.0.9 is too old: 0.1.0 is needed.');
    await until(async () => (await state('listed-1')) === 'refused');
    expect((await bed.core.probes.list())['listed-1']?.reason).toContain('0.1.0 is needed');
    await enrolment.noteRefusal('listed-1', null);
    expect(code(await connect(key, 2))).toBe('approved');
    await until(async () => (await state('listed-1')) === 'offline');
    await connect(key, 2);
    await until(async () => (await state('listed-1')) === 'copied');
    await admin('suspend', 'listed-1');
    await until(async () => (await state('listed-1')) === 'suspended');
  });
});

describe('an agent over Redis whose probe is also invited', () => {
  const seenBy = async (id: string): Promise<readonly [page: object | undefined, command: object]> => [
    (await bed.core.probes.agents())[id],
    await described(id),
  ];

  it('is shown as one connected over Redis, by the page and by probe:list, until an agent enrols and connects', async () => {
    await bed.addProbe('both-1');
    await bed.keepAlive('both-1');
    const token = await invite('both-1');
    const working = { transport: 'redis', version: '0.1.0', state: 'connected', reason: null };
    await until(async () => (await bed.core.probes.agents())['both-1']?.state === 'connected');
    const invited = await seenBy('both-1');
    // Simulates `vantage-agent enrol` on the same machine, while the agent over Redis keeps running.
    await connect(createAgentKey('both-1'), 1, token);
    await until(async () => bed.core.access.of('both-1').key !== null);
    const enrolledToo = await seenBy('both-1');

    expect(invited).toEqual([working, { ...working, key: null }]);
    expect(enrolledToo).toEqual([working, expect.objectContaining({ ...working, key: expect.any(String) })]);
  });
});

describe('the operator commands, with a login without rights of an administrator', () => {
  const seen = async (
    id: string,
    state: AgentAccess['state'],
    change: () => Promise<unknown>,
  ): Promise<AgentAccess> => {
    const { promise, resolve } = Promise.withResolvers<AgentAccess>();
    const stop = bed.core.access.onChange((probe, access) => {
      if (probe === id && access.state === state) resolve(access);
    });
    await change();
    const access = await promise;
    stop();
    return access;
  };

  it('let an agent wait, approve it and show the place of its address', async () => {
    const key = await enrolled('waits-1', '--approve');
    await until(async () => (await bed.core.probes.list())['waits-1']?.reason?.includes('probe:approve') === true);
    expect(code(await connect(key, 2))).toBe('waiting');

    let shown: Shown | undefined;
    const access = await seen('waits-1', 'approved', async () => {
      shown = await admin('approve', 'waits-1');
    });

    expect(access.state).toBe('approved');
    expect(shown!.err).toContain('192.0.2.7 is in Amsterdam, NL, Example Transit, AS64500');
    expect(code(await connect(key, 3))).toBe('approved');
    expect((await admin('approve', 'waits-1', '--use-place')).code).toBe(0);
    await until(async () => (await bed.core.probes.list())['waits-1']?.city === 'Amsterdam');
    expect((await bed.core.probes.list())['waits-1']).toMatchObject({ countryCode: 'NL', isp: 'Example Transit' });
  });

  it('suspend and resume an agent', async () => {
    const key = await enrolled('off-1');
    await bed.keepAlive('off-1');

    const access = await seen('off-1', 'suspended', () => admin('suspend', 'off-1', '--reason', 'maintenance'));

    expect(access).toMatchObject({ state: 'suspended', reason: 'Suspended by its operator: maintenance' });
    expect(code(await connect(key, 2))).toBe('suspended');
    await until(async () => (await bed.core.probes.list())['off-1']?.status === 'offline');
    expect((await bed.core.probes.list())['off-1']?.reason).toContain('maintenance');
    expect((await seen('off-1', 'approved', () => admin('resume', 'off-1'))).state).toBe('approved');
    expect(code(await connect(key, 2))).toBe('approved');
    expect((await admin('resume', 'off-1')).code).toBe(1);
  });

  it('tell only those with the key or a valid token that the probe is suspended', async () => {
    const key = await enrolled('shut-1');
    await seen('shut-1', 'suspended', () => admin('suspend', 'shut-1'));
    const token = await invite('shut-1');
    const other = createAgentKey('shut-1');

    expect(code(await connect(key, 2))).toBe('suspended');
    expect(code(await connect(other, 1))).toBe('unknown-key');
    expect(code(await connect(other, 1, `vt1_shut-1_${'A'.repeat(43)}`))).toBe('token-invalid');
    expect(code(await connect(other, 1, token))).toBe('suspended');

    await seen('shut-1', 'approved', () => admin('resume', 'shut-1'));
    expect(await connect(other, 1, token)).toMatchObject({ ok: true, enrolledNow: true });
  });

  it('remove an agent, whose key is unknown from then on', async () => {
    const key = await enrolled('gone-1');

    const access = await seen('gone-1', 'none', async () => expect((await admin('remove', 'gone-1')).code).toBe(0));

    expect(access.state).toBe('none');
    expect(code(await connect(key, 2))).toBe('unknown-probe');
    expect((await bed.redis.keys('*gone-1*')).filter((name) => name !== redisKeys.agentChanges)).toEqual([]);
    expect((await admin('remove', 'gone-1')).code).toBe(1);
  });

  it('act though no message arrives: the stream is read twice a second', async () => {
    const key = await enrolled('lossy-1');
    const connections = String(await bed.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
    for (const [, id] of connections.matchAll(/^id=(\d+)/gm)) await bed.redis.call('CLIENT', 'KILL', 'ID', id!);

    const access = await seen('lossy-1', 'suspended', () => admin('suspend', 'lossy-1'));

    expect(access.state).toBe('suspended');
    expect(code(await connect(key, 2))).toBe('suspended');
  });

  it('invite with the address that a coordinator wrote, into an existing record', async () => {
    bed.core.announceUrl('https://public.example.com/vantage', true);
    await until(async () => (await bed.redis.get(redisKeys.serviceUrl)) !== null);
    // The listening address of a coordinator without PUBLIC_URL, by a second one.
    const warnings: unknown[] = [];
    const warn = (fields: object, message: string): void => void warnings.push({ ...fields, message });
    const log: Log = { ...quiet, warn: warn as Log['warn'] };
    const clock = { now: async () => Date.now(), observe: () => undefined };
    announcedUrl(bed.redis, clock, log).announce('http://localhost:8080', false);
    await until(async () => warnings.length > 0);
    expect(warnings).toEqual([
      {
        publicUrl: 'http://localhost:8080',
        isConfigured: false,
        others: ['https://public.example.com/vantage'],
        message: 'other coordinators have another PUBLIC_URL',
      },
    ]);
    await invite('known-1');
    const out: string[] = [];

    const exit = await runProbeAdmin(['invite', 'known-1'], readAdminConfig({ REDIS_URL: url }), {
      out: (line) => out.push(line),
      err: () => 0,
    });

    expect(exit).toBe(0);
    const [token, , , container, , , bare] = out;
    expect(token).toMatch(/^VANTAGE_TOKEN=vt1_known-1_[\w-]{43}$/);
    for (const command of [container, bare]) {
      expect(command).toContain(`VANTAGE_URL=https://public.example.com/vantage`);
      expect(command).toContain(token);
    }
  });

  it.each([
    [
      'another host',
      'https://other.example.com/vantage',
      'PUBLIC_URL of the coordinators is https://public.example.com',
    ],
    ['another scheme', 'http://public.example.com', 'scheme, host and port must be the same'],
    ['a port', 'https://public.example.com:8443', 'bad-signature'],
    ['the same origin', 'https://PUBLIC.example.com:443/other', ''],
  ])('invite warns of an address that gateways refuse: %s', async (_reason, given, warning) => {
    await bed.redis.set(redisKeys.serviceUrl, 'https://public.example.com/vantage');

    const { code: exit, err } = await admin('invite', 'known-1', ...record, '--url', given);

    expect(exit).toBe(0);
    expect(err).toContain(warning);
    expect(err.includes('Warning')).toBe(warning !== '');
  });

  it('invite warns of an address that other machines cannot reach', async () => {
    await bed.redis.set(redisKeys.serviceUrl, 'http://localhost:8080');
    const { code: exit, err } = await admin('invite', 'known-1', ...record, '--url', 'http://localhost:8080');

    expect(exit).toBe(0);
    expect(err).toContain('Warning: http://localhost:8080 is this machine for agents on it, and none for others');
  });

  it.each([
    ['a probe without a record', ['invite', 'norecord'], 1, 'needs --name'],
    ['an incomplete record', ['invite', 'norecord', '--name', 'A'], 2, '--country'],
    ['no uses', ['invite', 'known-1', '--uses', '0'], 2, '--uses'],
    ['a life without a unit', ['invite', 'known-1', '--expires', '10'], 2, '--expires'],
    ['an address of no service', ['invite', 'known-1', '--url', 'ftp://x'], 2, '--url'],
    ['an approval of nothing', ['approve', 'norecord'], 1, 'no enrolled agent'],
    ['a suspension of nothing', ['suspend', 'norecord'], 1, 'no enrolled agent'],
    ['users of Redis', ['rotate', 'known-1'], 1, 'may not write Redis users'],
  ])('refuse %s', async (_reason, args, exit, text) => {
    const shown = await admin(...args);

    expect(shown).toMatchObject({ code: exit });
    expect(shown.err).toContain(text);
  });
});
