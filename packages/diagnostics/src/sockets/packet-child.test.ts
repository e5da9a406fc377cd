import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';

import { claimAnotherNode } from '@vantage/test-support/programs/native-module';
import { createPacketSockets } from './packet-sockets.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A packet process that loads a copy of raw-socket, and the file that was compiled for it. */
function copiedModule(): {
  readonly commandPrefix: readonly string[];
  readonly binary: string;
  readonly folder: string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-raw-socket-'));
  folders.push(folder);
  const source = dirname(realpathSync(createRequire(import.meta.url).resolve('raw-socket')));
  cpSync(source, join(folder, 'raw-socket'), { recursive: true });
  const copy = pathToFileURL(join(folder, 'raw-socket', 'index.js')).href;
  const hook = join(folder, 'hook.mjs');
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module';
     const copy = { url: '${copy}', format: 'commonjs', shortCircuit: true };
     registerHooks({ resolve: (name, context, next) => (name === 'raw-socket' ? copy : next(name, context)) });`,
  );
  const binary = join(folder, 'raw-socket', 'build', 'Release', 'raw.node');
  return { commandPrefix: ['env', `NODE_OPTIONS=--import=${pathToFileURL(hook).href}`], binary, folder };
}

describe('a packet process that cannot load its raw socket module', () => {
  it.each([
    ['it was compiled for another Node.js', claimAnotherNode, 'was compiled for another version of Node.js'],
    ['it is not compiled', (binary: string) => rmSync(binary), 'has no compiled raw socket module'],
    ['it is damaged', (binary: string) => truncateSync(binary, 100), 'ERR_DLOPEN_FAILED'],
  ])('says so in a sentence without a path when %s', async (_reason, damage, words) => {
    const { commandPrefix, binary, folder } = copiedModule();
    damage(binary);
    const failures: Error[] = [];
    const packets = createPacketSockets({ commandPrefix, onFailure: (error) => failures.push(error) });
    const { ipv4 } = await packets.probePrivilege();
    const opened = await packets.open({ family: 4, protocol: 'icmp' }).catch((error: Error) => error);
    await packets.close();

    expect(ipv4).toContain(words);
    expect(ipv4).toMatch(/^The packet process [^\n/\\]*\.$/);
    expect(opened).toMatchObject({ code: 'ECHILD', message: `ECHILD: ${ipv4}` });
    // The operator's log has the complete text.
    expect(failures[0]!.cause).toContain(folder);
  });

  it('loads the copy when nothing is wrong with it', async () => {
    const { commandPrefix } = copiedModule();
    const packets = createPacketSockets({ commandPrefix });
    await packets.probePrivilege();
    const { reason } = packets.status();
    await packets.close();

    expect(reason).toBeNull();
  });
});

describe('the memory of a packet process', () => {
  it('has a bounded young generation and one arena of malloc, and nothing else of the environment', async () => {
    const packets = createPacketSockets();
    try {
      await packets.probePrivilege();
      const { pid } = packets.status();
      const listOf = (file: string): readonly string[] => readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
      const names = listOf('environ').flatMap((entry) => (entry === '' ? [] : [entry.split('=')[0]!]));

      expect(listOf('cmdline')).toEqual(expect.arrayContaining(['--max-semi-space-size=1', '--no-turbofan']));
      expect(listOf('environ')).toContain('MALLOC_ARENA_MAX=1');
      expect(names.toSorted()).toEqual([
        'MALLOC_ARENA_MAX',
        'MALLOC_MMAP_THRESHOLD_',
        'MALLOC_TRIM_THRESHOLD_',
        'PATH',
      ]);
    } finally {
      await packets.close();
    }
  });
});

describe('a packet process that ends with an internal error', () => {
  it('keeps the words of the program for the operator', async () => {
    const failures: Error[] = [];
    const packets = createPacketSockets({
      commandPrefix: ['sh', '-c', 'echo /home/someone/secret >&2; exit 3', 'sh'],
      onFailure: (error) => failures.push(error),
    });
    const { ipv4 } = await packets.probePrivilege();
    await packets.close();

    expect(ipv4).toBe('The packet process ended with status 3.');
    expect(failures[0]!.cause).toContain('/home/someone/secret');
  });
});
