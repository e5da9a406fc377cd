import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Issued } from '@vantage/test-support/certificate-mint';

export interface OpensslServer {
  readonly port: number;
  /** Output of the server, including the extensions of each ClientHello. */
  readonly output: () => string;
  /** Writes a line to its standard input, such as `R`, which requests a renegotiation. */
  readonly command: (line: string) => void;
  readonly close: () => Promise<void>;
}

export interface OpensslServerOptions {
  readonly certificate: Issued;
  /** A certificate with a key of another type, for clients that cannot verify the first. */
  readonly second?: Issued;
  /** Certificates that are sent in addition to its own. */
  readonly chain?: readonly Issued[];
  readonly staple?: Buffer;
  /** Loopback address; an IPv6 address is in brackets. */
  readonly host?: string;
  /** Further arguments of `openssl s_server`; without `-www` it sends only the lines that `command` writes. */
  readonly args?: readonly string[];
}

/** `openssl s_server` on loopback: with `-www`, its default here, it answers each request with a page. */
export async function startOpensslServer({
  certificate,
  second,
  chain = [],
  staple,
  host = '127.0.0.1',
  args = ['-www'],
}: OpensslServerOptions): Promise<OpensslServer> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-openssl-'));
  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const files = ['-cert', file('server.crt', certificate.cert), '-key', file('server.key', certificate.key)];
  if (second !== undefined) {
    files.push('-dcert', file('second.crt', second.cert), '-dkey', file('second.key', second.key));
  }
  if (chain.length > 0) files.push('-cert_chain', file('chain.crt', chain.map(({ cert }) => cert).join('\n')));
  if (staple !== undefined) files.push('-status_file', file('staple.der', staple));
  // A test of certificates that OpenSSL would not serve by default needs level 0 on this side too.
  const loose = ['-cipher', 'DEFAULT@SECLEVEL=0', '-tlsextdebug'];
  const child = spawn('openssl', ['s_server', '-accept', `${host}:0`, ...loose, ...files, ...args]);
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString('latin1');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  for (;;) {
    const port = /^ACCEPT \S+:(\d+)$/m.exec(output)?.[1];
    if (port !== undefined) {
      return {
        port: Number(port),
        output: () => output,
        command: (line) => void child.stdin.write(`${line}\n`),
        close,
      };
    }
    if (child.exitCode !== null) throw new Error(`openssl s_server ended: ${output}`);
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), exited]);
  }
}
