import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '@vantage/redis-server';

import { unpackPackages } from '@vantage/test-support/debian-packages';

/** Debian's nginx, unpacked and not installed, in front of several coordinators. */
export interface ReverseProxy {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const LISTENS_WITHIN_MS = 30_000;

/** @param folder for its configuration, logs and temporary files */
export async function startNginx(backends: readonly string[], folder: string): Promise<ReverseProxy> {
  const packages = await unpackPackages('nginx');
  const at = join(folder, 'nginx');
  mkdirSync(at);
  const port = await freePort();
  writeFileSync(join(at, 'nginx.conf'), configuration(backends, port));
  const nginx = spawn(packages.program('nginx'), ['-p', at, '-c', 'nginx.conf', '-e', 'error.log'], {
    env: packages.environment,
    stdio: 'ignore',
  });
  const ended = once(nginx, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const giveUpAt = performance.now() + LISTENS_WITHIN_MS;
  while (
    !(await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (performance.now() > giveUpAt || nginx.exitCode !== null) {
      nginx.kill('SIGKILL');
      throw new Error(`nginx does not serve: ${readFileSync(join(at, 'error.log'), 'utf8').slice(-2_000)}`);
    }
    await sleep(50);
  }
  return {
    url,
    stop: async () => {
      nginx.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * nginx configuration of docs/reliability.md without `X-Forwarded-For` and `/agent`. All files that nginx writes are in
 * one folder.
 */
function configuration(backends: readonly string[], port: number): string {
  const servers = backends.map((url) => `server ${new URL(url).host} max_fails=0;`).join(' ');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${folders.map((name) => `${name}_temp_path ${name};`).join(' ')}
  upstream coordinators { ${servers} keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://coordinators;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 60s;
      proxy_next_upstream error timeout http_502 http_504 non_idempotent;
    }
  }
}
`;
}
