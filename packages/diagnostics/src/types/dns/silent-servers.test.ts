import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { digMissing } from '@vantage/test-support/dns/dig';
import { testContext } from '@vantage/test-support/context';
import { startDnsServer, type DnsServer } from '@vantage/test-support/dns/server';
import { FLAGS, respond, wireName, type WireQuery } from '@vantage/test-support/dns/wire';
import { itNeeding } from '@vantage/test-support/needs';

import { startUnbound, type NameServerDaemon } from '../../../test/dns-daemons.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import type { Failure } from '@vantage/contract';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

jest.setTimeout(120_000);

const missing = (await packagesMissing(['unbound'])) ?? (await digMissing());
const itWithUnbound = itNeeding(missing, process.env['CI']);

const SOA = {
  name: 'example.',
  type: 6,
  data: Uint8Array.from([...wireName('ns.example'), ...wireName('host.example'), ...Buffer.alloc(20, 1)]),
};

/** The server of `example.`, which is silent about `silent.example.`, or about everything. */
let isAway = false;
function answer(query: WireQuery): readonly Uint8Array[] {
  if (isAway || query.name.endsWith('silent.example.')) return [];
  if (query.name !== 'example.') return [respond(query, { flags: FLAGS.aa, rcode: 3, authority: [SOA] })];
  const isSoa = query.type === SOA.type;
  return [respond(query, { flags: FLAGS.aa, ...(isSoa ? { answers: [SOA] } : { authority: [SOA] }) })];
}

let authority: DnsServer | undefined;
let unbound: NameServerDaemon | undefined;

beforeAll(async () => {
  if (missing !== null) return;
  authority = await startDnsServer(answer);
  unbound = await startUnbound({ authorityPort: authority.port, zones: { 'example.': null } });
}, 120_000);

afterAll(async () => {
  await unbound?.stop();
  await authority?.close();
});

/** Failure of a check that asks unbound about a name whose servers are silent. */
async function failureAt(host: string): Promise<Failure | null> {
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  // Unbound tries silent servers for longer than this.
  const waits = { ...patientWaits, oneMs: [1_500], uncheckedMs: 20_000 };
  const outcome = await runDns(
    { host, recordType: 'A', options: { transport: 'udp', ...flags } },
    testContext<typeof dns>({ resolvers: [`127.0.0.1:${unbound!.port}`] }),
    undefined,
    waits,
  );
  return outcome.error;
}

describe('a resolver (unbound) that waits for name servers', () => {
  itWithUnbound('of one name answers about others', async () => {
    isAway = false;

    expect(await failureAt('a.silent.example')).toMatchObject({ code: 'dns_servers_silent', source: 'resolver' });
  });

  itWithUnbound('of every name, as without a network, says nothing about this one', async () => {
    isAway = true;

    expect(await failureAt('b.silent.example')).toMatchObject({ code: 'timed_out' });
  });
});
