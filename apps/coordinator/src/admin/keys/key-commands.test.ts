import { API_KEY, redisKeys } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { startKeyBed, type KeyBed } from '../../../test/key-bed.ts';
import { readAdminConfig } from '../config.ts';
import { runKeyAdmin } from './key-commands.ts';

let bed: KeyBed;

beforeAll(async () => {
  bed = await startKeyBed();
});

afterAll(() => bed.stop());

afterEach(() => bed.redis.flushall());

describe('the commands on keys', () => {
  it('add a key, print its text alone on standard output, and list it without the secret', async () => {
    const added = await bed.run('key:add', 'grafana', '--scopes', 'check,read', '--scopes', 'read', '--expires', '30d');
    const listed = await bed.run('key:list');

    expect(added).toMatchObject({ code: 0, out: expect.stringMatching(API_KEY) });
    expect(added.err).toContain('Key grafana is added.');
    expect(added.err).not.toContain('vtg_');
    const [, prefix, secret] = API_KEY.exec(added.out)!;
    expect(listed.out).not.toContain(secret);
    const key = JSON.parse(listed.out) as { readonly createdAt: string; readonly expiresAt: string };
    expect(key).toEqual({
      name: 'grafana',
      scopes: ['check', 'read'],
      limit: 600,
      allow: [],
      expired: false,
      prefixes: [{ prefix: `vtg_${prefix}`, expiresAt: null }],
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    });
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).toBe(30 * 86_400_000);
  });

  it('print one JSON object with --json', async () => {
    const added = await bed.run(
      'key:add',
      'a',
      '--scopes',
      'monitor',
      '--limit',
      '5',
      '--allow',
      '10.1.0.0/16',
      '--json',
    );
    const listed = await bed.run('key:list', '--json');
    const removed = await bed.run('key:remove', 'a', '--json');

    const record = { name: 'a', scopes: ['monitor'], limit: 5, allow: ['10.1.0.0/16'], expiresAt: null };
    expect(JSON.parse(added.out)).toMatchObject({ done: true, key: expect.stringMatching(API_KEY), record });
    expect(JSON.parse(listed.out)).toMatchObject({ done: true, keys: [record] });
    expect(JSON.parse(removed.out)).toMatchObject({ done: true });
  });

  it('rotate a key and keep its rights; the old secret stays for the overlap', async () => {
    await bed.run('key:add', 'a', '--scopes', 'read', '--limit', '7', '--expires', '1d');

    const at = await bed.run('key:rotate', 'a');
    const overlapping = await bed.run('key:rotate', 'a', '--overlap', '2h', '--expires', 'never', '--json');

    expect([at.code, at.err]).toEqual([0, expect.stringContaining('the old one is void')]);
    expect(JSON.parse(overlapping.out)).toMatchObject({
      said: [expect.stringMatching(/the old one is valid until \d{4}-/)],
      record: {
        name: 'a',
        scopes: ['read'],
        limit: 7,
        expiresAt: null,
        prefixes: [{ expiresAt: null }, { prefix: at.out.slice(0, 12), expiresAt: expect.any(String) }],
      },
    });
  });

  it('say until when the old secrets are accepted, which is no longer than the key', async () => {
    const first = await bed.run('key:add', 'a', '--scopes', 'read', '--expires', '1d');

    const within = await bed.run('key:rotate', 'a', '--overlap', '2d', '--json');
    const { expiresAt } = (JSON.parse(within.out) as { record: { expiresAt: string } }).record;
    expect(within.out).toContain(`the old one is valid until ${expiresAt}.`);
    expect(await bed.run('key:list')).toMatchObject({
      out: expect.stringContaining(JSON.stringify({ prefix: first.out.slice(0, 12), expiresAt })),
    });

    const again = await bed.run('key:rotate', 'a', '--overlap', '1h');
    expect(again.err).toContain(`; ${first.out.slice(0, 12)}, which was valid until ${expiresAt}, is void now.`);
  });

  it('warn at a rotation of networks that an earlier release took', async () => {
    await bed.run('key:add', 'a', '--scopes', 'read', '--allow', '10.0.0.0/8');
    const field = 'a';
    const record = JSON.parse((await bed.redis.hget(redisKeys.apiKeys, field))!) as object;
    await bed.redis.hset(
      redisKeys.apiKeys,
      field,
      JSON.stringify({ ...record, allow: ['10.0.0.0/8', '169.254.0.0/16'] }),
    );

    const rotated = await bed.run('key:rotate', 'a');

    expect(rotated).toMatchObject({ code: 0, out: expect.stringMatching(API_KEY) });
    expect(rotated.err.match(/Warning: .*/g)).toEqual([
      expect.stringContaining('--allow 169.254.0.0/16 of the key has no effect'),
    ]);
  });

  it('end with 1 where there is nothing to be done', async () => {
    await bed.run('key:add', 'a', '--scopes', 'read');

    const again = await bed.run('key:add', 'a', '--scopes', 'read');
    expect([again.code, again.out]).toEqual([1, '']);
    expect(again.err).toContain('there is a key a: key:rotate gives it a new secret');
    expect(await bed.run('key:rotate', 'b')).toMatchObject({ code: 1, out: '', err: 'There is no key b.' });
    expect(await bed.run('key:remove', 'b')).toMatchObject({ code: 1, out: '', err: 'There is no key b.' });
  });

  it('let one of two commands at the same time win, and both keep the record whole', async () => {
    const both = await Promise.all([1, 2, 3].map(() => bed.run('key:add', 'a', '--scopes', 'read')));

    expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1, 1]);
    const rotated = await Promise.all([1, 2, 3].map(() => bed.run('key:rotate', 'a', '--overlap', '1h')));
    const listed = JSON.parse((await bed.run('key:list')).out) as { prefixes: object[] };
    expect(rotated.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
    expect(listed.prefixes).toHaveLength(2);
  });

  it.each([
    ['no name', ['key:add', '--scopes', 'read'], ['<name>: is required']],
    ['two names', ['key:remove', 'a', 'b'], ['unexpected argument "b"']],
    ['a name for all', ['key:list', 'a'], ['unexpected argument "a"']],
    ['an odd name', ['key:remove', 'A b'], ['<name>: must be']],
    ['no scope', ['key:add', 'a'], ['--scopes: is required']],
    [
      'faults everywhere',
      ['key:add', 'a_', '--scopes', 'read,root', '--limit', '0', '--expires', '1y', '--allow', '10.0.0.1/8,x'],
      ['<name>', '--scopes: unknown “root”', '--limit', '--expires', 'not “10.0.0.1/8”', 'not “x”'],
    ],
    [
      'networks that cannot be allowed or need not be',
      ['key:add', 'a', '--scopes', 'read', '--allow', '169.254.0.0/16,fe80::1,10.0.0.0/8,224.0.0.0/4,8.8.8.0/24'],
      [
        '--allow: 169.254.0.0/16 cannot be allowed (Link Local)',
        '--allow: fe80::1 cannot be allowed (Link-Local Unicast)',
        '--allow: 224.0.0.0/4 cannot be allowed (Multicast)',
        '--allow: 8.8.8.0/24 is public',
      ],
    ],
    ['an overlap without end', ['key:rotate', 'a', '--overlap', 'never'], ['--overlap: must be']],
    ['an unknown option', ['key:remove', 'a', '--force'], ['unknown option --force; expected one of --json']],
    ['a mistyped option', ['key:add', 'a', '--scops', 'read'], ['unknown option --scops; did you mean --scopes?']],
  ])('name every fault and end with 2: %s', async (_what, args, said) => {
    const { code, out, err } = await bed.run(...args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    for (const part of said) expect(err).toContain(part);
    expect(err).toContain(`Usage:\n  ${args[0]} `);
  });

  it('end with 1 without Redis', async () => {
    const err: string[] = [];
    const streams = { out: () => undefined, err: (line: string) => err.push(line) };

    // The discard port of the loopback: nothing listens there.
    const code = await runKeyAdmin(['key:list'], readAdminConfig({ REDIS_URL: 'redis://127.0.0.1:9' }), streams);

    expect(code).toBe(1);
    expect(err.join('\n')).toContain('It could not be done');
  });
});
