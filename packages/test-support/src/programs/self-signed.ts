import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns key and certificate of 127.0.0.1 in PEM, in one text */
export function selfSigned(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-certificate-'));
  const file = join(folder, 'both.pem');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file];
  const names = ['-subj', '/CN=x', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const certificate = execFileSync('openssl', ['req', '-x509', '-days', '2', ...newKey, ...names], { stdio: 'pipe' });
  const key = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return `${key}${certificate.toString()}`;
}
