import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTargetPolicy } from '@vantage/target-policy';
import { pino } from 'pino';

import { createQuestionFault } from './question-fault.ts';
import { followModules, moduleWarnings, type FollowOptions, type Modules } from './follow-modules.ts';

let folder: string;
let path: string;
let lines: Record<string, unknown>[];
let followed: Modules | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-follow-'));
  path = join(folder, 'blackbox.yml');
  lines = [];
});
afterEach(() => {
  followed?.close();
  followed = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function follow(file: string | undefined, options: FollowOptions = {}): Promise<Modules> {
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  followed = await followModules(file, log, { pollIntervalMs: 20, ...options });
  return followed;
}

async function until(holds: () => boolean): Promise<void> {
  const endsAt = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > endsAt) throw new Error('it did not come to hold');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Replaces the file atomically, as editors and Kubernetes do. */
function replace(text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe('the modules', () => {
  it('are those of the service without a file', async () => {
    const { current } = await follow(undefined);
    expect([...current().usable.keys()]).toEqual(['http_2xx', 'tcp_connect', 'icmp', 'icmp_ttl5', 'traceroute', 'dns']);
  });

  it('follow their file', async () => {
    writeFileSync(path, 'modules: {a: {prober: icmp}}');
    const modules = await follow(path);
    const { loadedAt } = modules;
    const before = loadedAt();
    replace('modules: {b: {prober: icmp}}');
    await until(() => modules.current().usable.has('b'));
    expect(modules.current().usable.has('a')).toBe(false);
    expect(loadedAt()).toBeGreaterThanOrEqual(before);
  });

  it('follow the files that they name, and are refused while one cannot be read', async () => {
    const ca = join(folder, 'ca.pem');
    const pem = '-----BEGIN CERTIFICATE-----\nfirst\n-----END CERTIFICATE-----\n';
    writeFileSync(
      path,
      `modules:\n  a:\n    prober: tcp\n    tcp:\n      tls: true\n      tls_config: {ca_file: ${ca}}\n`,
    );
    const modules = await follow(path);
    expect(moduleWarnings(modules)).toEqual([
      'MODULES_FILE: module "a" cannot be run: line 6: tcp.tls_config.ca_file: the file cannot be read (ENOENT).',
    ]);
    const held = (): unknown => modules.current().usable.get('a');

    writeFileSync(ca, pem);
    await until(() => held() !== undefined);
    expect(held()).toMatchObject({ tlsOptions: { ca: pem } });
    writeFileSync(ca, pem.replace('first', 'second'));
    await until(() => JSON.stringify(held()).includes('second'));
  });

  it('stay as they are while the file is broken or absent, which log and warnings say', async () => {
    writeFileSync(path, 'modules: {a: {prober: icmp}}');
    const modules = await follow(path);
    replace('modules:\n  a:\n    probr: icmp\n');
    await until(() => modules.fault() !== undefined);
    expect(modules.fault()).toContain('line 3: unknown field "probr"');
    expect(modules.current().usable.has('a')).toBe(true);
    expect(moduleWarnings(modules)).toEqual([expect.stringContaining('the last good one is in use')]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 50, fault: modules.fault() }));

    rmSync(path);
    await until(() => modules.fault()?.includes('ENOENT') === true);
    expect(modules.current().usable.has('a')).toBe(true);

    replace('modules: {a: {prober: icmp}}');
    await until(() => modules.fault() === undefined);
  });

  it('that cannot be run are named with line and option at the start', async () => {
    writeFileSync(path, 'modules:\n  a:\n    prober: tcp\n    tcp:\n      source_ip_address: 192.0.2.1\n');
    const modules = await follow(path);
    expect(modules.current().usable.size).toBe(0);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, module: 'a', line: 5, option: 'tcp.source_ip_address' }),
    );
    expect(moduleWarnings(modules)).toEqual([expect.stringContaining('line 5: tcp.source_ip_address')]);
  });

  it('whose option a check type refuses are named in one sentence', async () => {
    writeFileSync(path, 'modules:\n  a:\n    prober: dns\n    dns:\n      query_name: example.com\n');
    const modules = await follow(path);

    expect(modules.current().usable.has('a')).toBe(false);
    expect(moduleWarnings(modules)).toEqual([expect.stringMatching(/^MODULES_FILE: module "a" .*[^.]\.$/)]);
  });

  it('whose question the policy refuses are loaded, and named at the start and in the warnings', async () => {
    writeFileSync(path, 'modules:\n  a:\n    prober: dns\n    dns:\n      query_name: a.local\n      query_type: A\n');
    const policy = createTargetPolicy({});
    const modules = await follow(path, { questionFault: createQuestionFault(policy) });

    expect(modules.current().usable.has('a')).toBe(true);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, module: 'a', line: 5, option: 'dns.query_name' }),
    );
    expect(moduleWarnings(modules)).toEqual([
      expect.stringMatching(
        /^MODULES_FILE: scrapes of module "a" will be refused: line 5: dns.query_name: a.local is .*[^.]\.$/,
      ),
    ]);
  });

  it('end the start where the file is broken, with every fault', async () => {
    writeFileSync(path, 'modules:\n  a:\n    probr: icmp\n    timeout: 5\n');
    await expect(follow(path)).rejects.toThrow(/line 3: unknown field "probr".*line 4: must be a duration/);
  });
});
