import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { launch } from 'puppeteer';

import type { Issued } from '@vantage/test-support/certificate-mint';
import { undisturbed } from './undisturbed.ts';

/** A server on loopback, and the host name for the request. */
export interface DigQuery {
  readonly host: string;
  readonly port: number;
}

/** Reports of independent programs about a certificate. */
export interface SecondOpinions {
  /** The verification errors that `openssl s_client` prints, each once. */
  readonly openssl: (asked: DigQuery) => Promise<readonly string[]>;
  /** True if curl accepts the certificate. */
  readonly curl: (asked: DigQuery) => Promise<boolean>;
  readonly close: () => void;
}

const run = promisify(execFile);

export function curlVersion(): string | null {
  try {
    return execFileSync('curl', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

/** @param roots certificates to trust, and no others */
export function secondOpinions(roots: readonly Issued[]): SecondOpinions {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-opinions-'));
  const trusted = join(folder, 'roots.pem');
  writeFileSync(trusted, roots.map(({ cert }) => cert).join('\n'));
  return {
    openssl: async ({ host, port }) => {
      const name = isIP(host) === 0 ? ['-servername', host, '-verify_hostname', host] : ['-verify_ip', host];
      const trust = ['-CAfile', trusted, '-no-CApath', '-auth_level', '2'];
      const asking = run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...trust, ...name]);
      asking.child.stdin?.end();
      // The exit code is not 0 if the handshake fails, which the output shows too.
      const { stderr } = await asking.catch((error: unknown) => error as { stderr: string });
      return [...new Set([...stderr.matchAll(/^verify error:num=\d+:(.*)$/gm)].map(([, text]) => text!))];
    },
    curl: async ({ host, port }) => {
      const pinned = ['--resolve', `${host}:${port}:127.0.0.1`, '--noproxy', '*'];
      const trust = ['--cacert', trusted, '--ciphers', 'DEFAULT@SECLEVEL=2'];
      const asking = run('curl', ['-sS', '-o', join(folder, 'body'), ...trust, ...pinned, `https://${host}:${port}/`]);
      return asking.then(
        () => true,
        () => false,
      );
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface ChromiumOpinion {
  /** Status of the answer in Chromium, or its error. */
  readonly visit: (asked: DigQuery) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface ChromiumOptions {
  readonly executablePath: string;
  /** Path of `certutil` of NSS, and the environment that it needs. */
  readonly certutil: { readonly path: string; readonly environment: NodeJS.ProcessEnv };
  readonly roots: readonly Issued[];
  /** Server certificates that are trusted directly. */
  readonly servers: readonly Issued[];
}

/** A Chromium that trusts additional roots, and certificates of servers themselves, from its user's database. */
export async function chromiumOpinion({
  executablePath,
  certutil,
  roots,
  servers,
}: ChromiumOptions): Promise<ChromiumOpinion> {
  const home = mkdtempSync(join(tmpdir(), 'vantage-chromium-'));
  const database = join(home, '.pki', 'nssdb');
  mkdirSync(database, { recursive: true });
  const nss = async (...args: readonly string[]): Promise<unknown> =>
    run(certutil.path, ['-d', `sql:${database}`, ...args], { env: certutil.environment });
  await nss('-N', '--empty-password');
  const trusted = [
    ...roots.map((issued) => ({ issued, flags: 'C,,' })),
    ...servers.map((issued) => ({ issued, flags: 'P,,' })),
  ];
  for (const [at, { issued, flags }] of trusted.entries()) {
    const file = join(home, `${at}.crt`);
    writeFileSync(file, issued.cert);
    await nss('-A', '-t', flags, '-n', `certificate ${at}`, '-i', file);
  }
  const browser = await launch({
    executablePath,
    env: { ...process.env, HOME: home },
    args: ['--no-sandbox', '--host-resolver-rules=MAP * 127.0.0.1'],
  });
  // The network service is asked: navigating a page to each server may start a renderer process each time.
  const page = await browser.newPage();
  const session = await page.createCDPSession();
  const { frameTree } = await session.send('Page.getFrameTree');
  const options = { disableCache: true, includeCredentials: false };
  return {
    visit: async ({ host, port }) => {
      const asked = { frameId: frameTree.frame.id, url: `https://${host}:${port}/`, options };
      return undisturbed(async () => {
        const { resource } = await session.send('Network.loadNetworkResource', asked);
        const { netErrorName = '', httpStatusCode } = resource;
        return /ERR_[A-Z0-9_]+/.exec(netErrorName)?.[0] ?? String(httpStatusCode);
      });
    },
    close: async () => {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
