import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { findRedisServer, redisPidFile, startRedisServer } from './index.ts';

const executable = findRedisServer(process.env['PATH']!)!;

/** @param lines number of lines to wait for in the replies; an error ends the wait */
async function ask(port: number, command: string, lines = 1): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(`${command}\r\n`);
  let answer = '';
  while (answer.split('\r\n').length <= lines && !/^-/m.test(answer)) {
    answer += ((await once(socket, 'data')) as [Buffer])[0].toString();
  }
  socket.destroy();
  return answer.trim();
}

describe('our Redis server', () => {
  it('answers, evicts nothing, and takes its temporary data with it', async () => {
    const server = await startRedisServer({ executable });
    const policy = await ask(server.port, 'CONFIG GET maxmemory-policy');
    const folder = (await ask(server.port, 'CONFIG GET dir')).split('\r\n').at(-1)!;
    const existed = existsSync(folder);

    await server.stop();

    expect(policy).toContain('noeviction');
    expect([existed, existsSync(folder)]).toEqual([true, false]);
  });

  it('keeps what was written when it is killed and started again in its folder', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    const first = await startRedisServer({ executable, dataFolder, arguments: ['--appendfsync', 'always'] });
    await ask(first.port, 'SET kept yes');
    process.kill(first.pid, 'SIGKILL');
    await first.ended;

    const second = await startRedisServer({ executable, dataFolder, port: first.port });
    const kept = await ask(second.port, 'GET kept');
    await second.stop();

    expect(kept).toBe('$3\r\nyes');
    expect(readdirSync(dataFolder)).toContain('appendonlydir');
    rmSync(dataFolder, { recursive: true });
  });

  it('has loaded its data when it has started, behind a password too', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    const password = ['--requirepass', 'secret'];
    const first = await startRedisServer({
      executable,
      dataFolder,
      arguments: [...password, '--appendfsync', 'always'],
    });
    await ask(first.port, `AUTH secret\r\nEVAL "for i=1,3000 do redis.call('SET',i,i) end" 0`, 2);
    process.kill(first.pid, 'SIGKILL');
    await first.ended;

    // Loading takes a millisecond per key, three seconds in all; meanwhile Redis answers commands with `LOADING`.
    const slow = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];
    const second = await startRedisServer({
      executable,
      dataFolder,
      password: 'secret',
      arguments: [...password, ...slow],
    });
    const kept = await ask(second.port, 'AUTH secret\r\nGET 3000', 3);
    await second.stop();

    expect(kept).toBe('+OK\r\n$4\r\n3000');
    rmSync(dataFolder, { recursive: true });
  });

  it('is found by the name that redis-tools gives to the same executable', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    symlinkSync(executable, join(folder, 'redis-check-rdb'));

    const server = await startRedisServer({ executable: join(folder, 'redis-check-rdb') });
    const answer = await ask(server.port, 'PING');
    await server.stop();

    expect(answer).toBe('+PONG');
    rmSync(folder, { recursive: true });
  });

  it('leaves its process id in its folder while it runs', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    const server = await startRedisServer({ executable, dataFolder });
    const written = readFileSync(redisPidFile(dataFolder), 'utf8').trim();
    await server.stop();

    expect(written).toBe(String(server.pid));
    expect(existsSync(redisPidFile(dataFolder))).toBe(false);
    rmSync(dataFolder, { recursive: true });
  });

  it('is not taken for one that holds its port', async () => {
    const other = await startRedisServer({ executable });

    await expect(startRedisServer({ executable, port: other.port })).rejects.toThrow('Address already in use');
    expect(await ask(other.port, 'PING')).toBe('+PONG');
    await other.stop();
  });

  it('says what went wrong when the server cannot start', async () => {
    const start = startRedisServer({ executable, arguments: ['--no-such-setting', '1'] });

    await expect(start).rejects.toThrow(/did not start on port \d+: [\s\S]*no-such-setting/);
  });

  (process.getuid?.() === 0 ? it : it.skip)('says at once that the machine cannot reach itself', () => {
    const program = `
      const { startRedisServer } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
      await startRedisServer({ executable: ${JSON.stringify(executable)} }).catch((error) => console.log(error.message));`;
    const node = [process.execPath, '--conditions=vantage-source', '--input-type=module', '-e', program];

    const { stdout } = spawnSync('unshare', ['--net', ...node], { encoding: 'utf8' });

    expect(stdout).toMatch(/^redis-server did not start on port \d+ \(connect ENETUNREACH 127\.0\.0\.1/);
  });

  (process.getuid?.() === 0 ? it : it.skip)('says at once that the machine has no 127.0.0.1', () => {
    const program = `
      const { freePort } = await import(${JSON.stringify(join(import.meta.dirname, 'free-port.ts'))});
      await freePort().catch((error) => console.log(error.message));`;
    const node = [process.execPath, '--conditions=vantage-source', '--input-type=module', '-e', program];
    const script = 'ip link set lo up && ip address delete 127.0.0.1/8 dev lo && exec "$@"';

    const { stdout } = spawnSync('unshare', ['--net', 'sh', '-c', script, 'sh', ...node], {
      encoding: 'utf8',
      timeout: 10_000,
    });

    expect(stdout).toMatch(/EADDRNOTAVAIL.*127\.0\.0\.1/);
  });
});
