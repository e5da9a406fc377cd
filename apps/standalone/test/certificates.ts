import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  /** File of the certificate, which is its own CA. */
  readonly caFile: string;
  readonly keyFile: string;
}

/** Creates a certificate for loopback addresses and `gateway.example.test`. */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const [keyFile, caFile] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const subject = ['-subj', '/CN=vantage', '-addext', 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:gateway.example.test'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '2', ...key, '-out', caFile, ...subject]);
  return { caFile, keyFile };
}

/** A file with a CA that signed nothing of this service. */
export async function foreignCa(folder: string): Promise<string> {
  const file = join(folder, 'foreign.pem');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '/dev/null'];
  const { stdout } = await promisify(execFile)('openssl', ['req', '-x509', '-days', '2', ...key, '-subj', '/CN=other']);
  writeFileSync(file, stdout);
  return file;
}
