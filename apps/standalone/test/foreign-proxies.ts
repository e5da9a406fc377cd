import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { freePort } from '@vantage/redis-server';
import { unpackPackages, type UnpackedPackages } from '@vantage/test-support/debian-packages';

/** A proxy from a Debian package, between agents and the service. */
export interface ForeignProxy {
  readonly port: number;
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

export interface Login {
  readonly user: string;
  readonly password: string;
}

/** A proxy that terminates TLS in front of two coordinators. */
export interface FrontOptions {
  readonly folder: string;
  readonly port: number;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Ports of the coordinators. */
  readonly coordinators: readonly [number, number];
}

export const packages = {
  nginx: ['nginx', 'libnginx-mod-stream'],
  haproxy: ['haproxy'],
  squid: ['squid'],
  tinyproxy: ['tinyproxy-bin'],
} as const;

const shippedFile = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../infra/docker/${name}`, import.meta.url)), 'utf8');

/** A shipped configuration file with these texts replaced, each of which it must contain. */
function shipped(name: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    return text.replaceAll(from, to);
  }, shippedFile(name));
}

export async function startNginx(options: FrontOptions): Promise<ForeignProxy> {
  const { folder, port, certificateFile, keyFile, coordinators } = options;
  const unpacked = await unpackPackages(...packages.nginx);
  const inner = await freePort();
  const module = `${unpacked.folder}/usr/lib/nginx/modules/ngx_stream_module.so`;
  const tls = `ssl proxy_protocol; ssl_certificate ${certificateFile}; ssl_certificate_key ${keyFile};`;
  const text = shipped('nginx.conf', [
    // First, because the folder in later texts may be below /tmp.
    ['/tmp/', `${folder}/`],
    ['include /etc/nginx/modules-enabled/*.conf;', `daemon off; master_process off; load_module ${module};`],
    ['/dev/stderr', join(folder, 'nginx.log')],
    ['worker_connections 16384', 'worker_connections 500'],
    ['listen 8080', `listen 127.0.0.1:${port}`],
    ['listen 127.0.0.1:8081 proxy_protocol;', `listen 127.0.0.1:8081 ${tls}`],
    ['127.0.0.1:8081', `127.0.0.1:${inner}`],
    ['coordinator-1:8080', `127.0.0.1:${coordinators[0]}`],
    ['coordinator-2:8080', `127.0.0.1:${coordinators[1]}`],
  ]);
  writeFileSync(join(folder, 'nginx.conf'), text);
  const words = ['-p', folder, '-c', 'nginx.conf', '-e', 'nginx.log'];
  return start(unpacked, 'nginx', words, port, join(folder, 'nginx.log'));
}

export async function startHaproxy(options: FrontOptions): Promise<ForeignProxy> {
  const { folder, port, certificateFile, keyFile, coordinators } = options;
  const pem = join(folder, 'haproxy.pem');
  writeFileSync(pem, readFileSync(certificateFile, 'utf8') + readFileSync(keyFile, 'utf8'), { mode: 0o600 });
  const text = shipped('haproxy.cfg', [
    ['bind :8443', `bind 127.0.0.1:${port}`],
    ['/etc/haproxy/vantage.pem', pem],
    ['maxconn 16384', 'maxconn 500'],
    ['coordinator-1:8080', `127.0.0.1:${coordinators[0]}`],
    ['coordinator-2:8080', `127.0.0.1:${coordinators[1]}`],
  ]);
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  const unpacked = await unpackPackages(...packages.haproxy);
  return start(unpacked, 'haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], port, join(folder, 'haproxy.log'));
}

/** A proxy by CONNECT that requires a login. */
export async function startSquid(at: string, { user, password }: Login): Promise<ForeignProxy> {
  const unpacked = await unpackPackages(...packages.squid);
  const port = await freePort();
  const folder = join(at, 'squid');
  mkdirSync(folder);
  // Started by root, Squid becomes another user, who must be able to write here.
  chmodSync(at, 0o755);
  chmodSync(folder, 0o777);
  const { stdout } = await promisify(execFile)('openssl', ['passwd', '-apr1', password]);
  writeFileSync(join(folder, 'users'), `${user}:${stdout}`, { mode: 0o644 });
  const share = join(unpacked.folder, 'usr/share/squid');
  const lines = [
    `http_port 127.0.0.1:${port}`,
    `auth_param basic program ${unpacked.folder}/usr/lib/squid/basic_ncsa_auth ${folder}/users`,
    'acl known proxy_auth REQUIRED',
    'http_access allow known',
    'http_access deny all',
    `pid_filename ${folder}/squid.pid`,
    `access_log stdio:${folder}/access.log`,
    `cache_log ${folder}/cache.log`,

    'cache deny all',
    `unlinkd_program ${unpacked.folder}/usr/lib/squid/unlinkd`,
    'shutdown_lifetime 0 seconds',
    'pinger_enable off',
    'netdb_filename none',
    `mime_table ${share}/mime.conf`,
    `icon_directory ${share}/icons`,
    `error_directory ${share}/errors/templates`,

    `coredump_dir ${folder}`,
    'cache_effective_user proxy',
    'visible_hostname localhost',
    'max_filedescriptors 1024',
  ];
  writeFileSync(join(folder, 'squid.conf'), `${lines.join('\n')}\n`);
  // Squid's shared memory has this name and remains after a SIGKILL, so each instance needs another one.
  const words = ['-N', '-n', `vantage${port}`, '-f', join(folder, 'squid.conf')];
  return start(unpacked, 'squid', words, port, join(folder, 'access.log'), join(folder, 'cache.log'));
}

/** A proxy by CONNECT that requires a login. */
export async function startTinyproxy(at: string, { user, password }: Login): Promise<ForeignProxy> {
  const unpacked = await unpackPackages(...packages.tinyproxy);
  const port = await freePort();
  const log = join(at, 'tinyproxy.log');
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    `BasicAuth ${user} ${password}`,
    `LogFile "${log}"`,
    'LogLevel Info',
  ];
  writeFileSync(join(at, 'tinyproxy.conf'), `${lines.join('\n')}\n`);
  return start(unpacked, 'tinyproxy', ['-d', '-c', join(at, 'tinyproxy.conf')], port, log);
}

async function start(
  { program, environment }: UnpackedPackages,
  name: string,
  words: readonly string[],
  port: number,
  ...logs: readonly string[]
): Promise<ForeignProxy> {
  const child = spawn(program(name), words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const log = (): string => said + logs.map(readOrNothing).join('\n');
  while (!(await accepts(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended:\n${log()}`);
    await sleep(50);
  }
  return { port, log, stop: () => end(child) };
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
