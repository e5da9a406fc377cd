import { execFile } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { challengeText } from '@vantage/contract';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mountSmallDisk } from '@vantage/test-support/programs/small-disk';

import { openCounter } from './counter.ts';
import { openIdentity, type Identity, type Proof } from './identity.ts';

const isRoot = process.getuid?.() === 0;

let folder: string;
const lines: string[] = [];
const note = (_fields: unknown, text?: string): void => void lines.push(text ?? '');
const log = { info: note, warn: note, error: note } as never;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'vantage-state-')), 'state');
  lines.length = 0;
});

afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const first = `vt1_fra-1_${'a'.repeat(43)}`;
const second = `vt1_fra-1_${'b'.repeat(43)}`;
const origin = 'https://vantage.example.com';

function open(token?: string, at = folder): Promise<Identity> {
  return openIdentity({ folder: at, url: `${origin}/path`, token, log });
}

function isSigned({ probeId, publicKey, counter, signature }: Proof, nonce: string, tokenDigest?: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  const text = challengeText({ origin, probeId, nonce, counter, publicKey, tokenDigest });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

describe('the identity of an agent', () => {
  it('is made with the token, readable by its owner only, and used without the token once it is confirmed', async () => {
    const identity = await open(first);
    const enrolling = await identity.answer('nonce-1');
    await identity.confirmed();
    const later = await identity.answer('nonce-2');
    const restarted = await (await open()).answer('nonce-3');

    expect(enrolling).toMatchObject({ probeId: 'fra-1', token: first, counter: 1 });
    expect(isSigned(later, 'nonce-2')).toBe(true);
    expect(isSigned(later, 'nonce-1')).toBe(false);
    expect(later.token).toBeUndefined();
    expect([later.publicKey, restarted.publicKey]).toEqual([enrolling.publicKey, enrolling.publicKey]);
    expect([later.counter, restarted.counter]).toEqual([2, 3]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(['counter.3', 'key.json']);
  });

  (isRoot ? it : it.skip)('leaves nothing on a full disk, where it cannot be made', async () => {
    mkdirSync(folder, { recursive: true });
    const disk = (await mountSmallDisk(folder, 1))!;
    disk.fill();
    await expect(open(first, disk.path)).rejects.toThrow('(VANTAGE_STATE_FOLDER) cannot be used: ENOSPC');
    const left = readdirSync(disk.path);
    await disk.unmount();

    expect(left).toEqual(['filler']);
  });

  it('says which folder cannot be used, and which setting names it', async () => {
    const identity = await open(first);
    rmSync(folder, { recursive: true });

    await expect(identity.answer('n')).rejects.toThrow(
      `the state folder ${folder} (VANTAGE_STATE_FOLDER) cannot be used`,
    );
  });

  (isRoot ? it : it.skip)(
    'answers no challenge while its folder is read-only, and afterwards the next one',
    async () => {
      await open(first);
      const disk = (await mountSmallDisk(folder, 4))!;
      const remount = (mode: 'ro' | 'rw') =>
        promisify(execFile)('nsenter', ['-m', '-t', `${disk.holderPid}`, 'mount', '-o', `remount,${mode}`, folder]);
      try {
        const identity = await open(first, disk.path);
        const before = await identity.answer('nonce-1');
        await identity.confirmed();

        await remount('ro');
        await expect(identity.answer('nonce-2')).rejects.toThrow('(VANTAGE_STATE_FOLDER) cannot be used: EROFS');
        await remount('rw');

        expect([before.counter, (await identity.answer('nonce-3')).counter]).toEqual([1, 2]);
      } finally {
        await disk.unmount();
      }
    },
  );

  it('enrols the same key again after a lost answer, with the token and without it', async () => {
    const lost = await (await open(first)).answer('n');

    const [again, without] = [await (await open(first)).answer('n'), await (await open()).answer('n')];

    expect(again).toMatchObject({ publicKey: lost.publicKey, token: first });
    expect(without).toMatchObject({ publicKey: lost.publicKey });
    expect(without.token).toBeUndefined();
  });

  it('reads a token with the line feed of the file that it comes from', async () => {
    expect((await (await open(` ${first}\n`)).answer('n')).token).toBe(first);
  });

  it('ignores the token that its key was made for', async () => {
    const identity = await open(first);
    const { publicKey } = await identity.answer('n');
    await identity.confirmed();

    const proof = await (await open(first)).answer('n');

    expect(proof.publicKey).toBe(publicKey);
    expect(proof.token).toBeUndefined();
  });

  it('makes a new key for another token, and continues with the old one if that token is refused', async () => {
    const identity = await open(first);
    const old = await identity.answer('n');
    await identity.confirmed();

    const renewed = await open(second);
    const next = await renewed.answer('n');
    const after = await renewed.refused('token-expired');
    const fallen = await renewed.answer('n');

    expect(next.publicKey).not.toBe(old.publicKey);
    expect(after).toBe('retry');
    expect(fallen.publicKey).toBe(old.publicKey);
    expect((await (await open()).answer('n')).publicKey).toBe(old.publicKey);
  });

  it('ends if its first token is refused, and waits if its key is', async () => {
    const identity = await open(first);

    expect(await identity.refused('token-used')).toBe('end');
    expect(lines.join()).toContain('used up');

    const enrolled = await open(first);
    await enrolled.answer('n');
    await enrolled.confirmed();
    expect(await enrolled.refused('suspended')).toBe('wait');
    expect(await enrolled.refused('unknown-key')).toBe('wait');
  });

  it('takes a new counter once if it was overtaken', async () => {
    const identity = await open(first);

    expect([await identity.refused('stale-counter'), await identity.refused('stale-counter')]).toEqual([
      'retry',
      'wait',
    ]);
  });

  it('knows a counter of a copy of its folder', async () => {
    const identity = await open(first);
    await identity.answer('n');
    await identity.confirmed();
    cpSync(folder, `${folder}-copy`, { recursive: true });
    const copy = await open(undefined, `${folder}-copy`);

    const { counter } = await copy.answer('n');

    expect(await identity.wasTaken(counter)).toBe(false);
    expect(await identity.wasTaken((await identity.answer('n')).counter)).toBe(true);
  });

  it.each([
    ['no key and no token', undefined, 'set VANTAGE_TOKEN'],
    ['what is no token', 'secret', 'not a token'],
  ])('refuses to start with %s', async (_reason, token, message) => {
    await expect(open(token)).rejects.toThrow(message);
  });

  it('says which file is damaged', async () => {
    const identity = await open(first);
    await identity.answer('n');
    await identity.confirmed();
    writeFileSync(join(folder, 'key.json'), '{"v":1');

    await expect(open()).rejects.toThrow('key.json is not a key');
  });
});

describe('the counter', () => {
  it('gives each value once to processes that take it at the same time', async () => {
    await open(first);
    const program = `
      const { openCounter } = await import(${JSON.stringify(join(import.meta.dirname, 'counter.ts'))});
      const counter = openCounter(process.argv[1]);
      for (let count = 0; count < 25; count += 1) console.log(await counter.next());`;
    const run = () =>
      promisify(execFile)(process.execPath, [
        '--conditions=vantage-source',
        '--input-type=module',
        '-e',
        program,
        folder,
      ]);

    const outputs = await Promise.all([run(), run(), run()]);

    const values = outputs.map(({ stdout }) => stdout.trim().split('\n').map(Number));
    expect(new Set(values.flat()).size).toBe(75);
    for (const own of values) expect(own).toEqual(own.toSorted((one, other) => one - other));
  });

  it('is one higher after a crash at any moment', async () => {
    await open(first);
    const counter = openCounter(folder);
    await counter.next();
    // Simulates a crash between writing a counter and removing the older ones.
    writeFileSync(join(folder, 'counter.2'), '');

    expect(await counter.next()).toBe(3);
    expect(existsSync(join(folder, 'counter.1'))).toBe(false);
  });

  (isRoot ? it : it.skip)('goes on if the file system has no inode left', async () => {
    await open(first);
    const disk = (await mountSmallDisk(folder, 4, 16))!;
    try {
      const counter = openCounter(disk.path);
      await counter.next();
      disk.fillInodes();

      const values = [await counter.next(), await counter.next(), await counter.next()];

      expect(() => writeFileSync(join(disk.path, 'another'), '')).toThrow('ENOSPC');
      expect(values).toEqual([2, 3, 4]);
      expect(readdirSync(disk.path).filter((name) => name.startsWith('counter'))).toEqual(['counter.4']);
    } finally {
      await disk.unmount();
    }
  });
});
