import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '@vantage/redis-server';

import { ensureTls } from '../../../apps/coordinator/src/admin/tls/tls-folder.ts';
import { startCoreBed, type CoreBed } from '../../../apps/coordinator/test/core-bed.ts';

/** Redis over TLS with the limits of the shipped `redis.conf`, and a coordinator that uses it. */
export interface ShippedBed {
  readonly bed: CoreBed;
  readonly tlsPort: number;
  readonly caFile: string;
  readonly stop: () => Promise<void>;
}

export async function startShippedBed(): Promise<ShippedBed> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-audit-'));
  await ensureTls(folder, { hosts: ['127.0.0.1'] });
  const tlsPort = await freePort();
  const of = (name: string): string => join(folder, 'redis', name);
  const tls = ['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', '--tls-ca-cert-file', of('ca.crt')];
  const files = ['--tls-cert-file', of('redis.crt'), '--tls-key-file', of('redis.key')];
  const bed = await startCoreBed(
    { arguments: [...shippedLimits(), ...tls, ...files] },
    {
      redisUrl: `rediss://127.0.0.1:${tlsPort}`,
      redisCertificates: readFileSync(of('ca.crt'), 'utf8'),
      probeKeysMaxBytes: 256 * 1_048_576,
    },
  );
  return {
    bed,
    tlsPort,
    caFile: of('ca.crt'),
    stop: async () => {
      await bed.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The limits of the shipped settings, as arguments. */
function shippedLimits(): readonly string[] {
  const text = readFileSync(new URL('../../redis/redis.conf', import.meta.url), 'utf8');
  const names =
    /^(?:maxmemory|maxclients|maxmemory-\w+|proto-max-bulk-len|client-[\w-]+|slowlog-[\w-]+|acllog-[\w-]+) /;
  return text.split('\n').flatMap((line) => {
    if (!names.test(line)) return [];
    const [name = '', ...values] = line.split(' ');
    return [`--${name}`, ...values];
  });
}
