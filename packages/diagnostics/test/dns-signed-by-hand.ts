import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { temporaryFolder } from '@vantage/test-support/daemon';
import { unpackPackages } from '@vantage/test-support/debian-packages';

/** A zone that was signed once, with the DNSKEY that a validator would trust. */
export interface SignedZone {
  readonly file: string;
  /** The DNSKEY, such as `257 3 13 …`. */
  readonly key: string;
}

export interface SigningOptions {
  /** Period in which the signatures are valid, as `YYYYMMDDHHMMSS`; by default they are valid now. */
  readonly valid?: { readonly from: string; readonly until: string };
}

/** Signs a zone file with BIND's tools: knot would sign a zone with expired signatures again. */
export async function signZone(zone: string, text: string, { valid }: SigningOptions = {}): Promise<SignedZone> {
  const packages = await unpackPackages('bind9');
  const folder = await temporaryFolder();
  const run = async (program: string, ...args: readonly string[]): Promise<string> => {
    const options = { cwd: folder.path, env: packages.environment };
    return (await promisify(execFile)(packages.program(program), args, options)).stdout;
  };
  try {
    const keyFile = (await run('dnssec-keygen', '-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', zone)).trim();
    const key = /DNSKEY (257 .*)$/m.exec(await readFile(join(folder.path, `${keyFile}.key`), 'utf8'))![1]!;
    await writeFile(join(folder.path, 'zone'), `${text}@ DNSKEY ${key}\n`);
    const times = valid === undefined ? [] : ['-s', valid.from, '-e', valid.until];
    await run('dnssec-signzone', '-q', '-z', '-P', '-O', 'full', ...times, '-o', zone, '-f', 'signed', 'zone', keyFile);
    return { file: await readFile(join(folder.path, 'signed'), 'utf8'), key };
  } finally {
    await folder.remove();
  }
}
