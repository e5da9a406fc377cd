import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect } from '@jest/globals';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { dig, digMissing } from '@vantage/test-support/dns/dig';
import { startKnot } from '@vantage/test-support/dns/knot';
import { testContext } from '@vantage/test-support/context';
import { startDnsServer } from '@vantage/test-support/dns/server';
import { addressRecord, FLAGS, respond, wireName, type WireQuery } from '@vantage/test-support/dns/wire';
import { itNeeding } from '@vantage/test-support/needs';

import { startUnbound, type UnboundOptions } from '../../../test/dns-daemons.ts';
import { signZone } from '../../../test/dns-signed-by-hand.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import type { Outcome } from '../../diagnostic.ts';
import type { Failure } from '@vantage/contract';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

const missing = (await packagesMissing(['unbound'])) ?? (await digMissing());
// Concurrent: each resolver has its own name servers.
const itWithUnbound = itNeeding(missing, process.env['CI'], 'concurrent');
const noServers = missing ?? (await packagesMissing(['knot', 'knot-dnsutils'], ['bind9']));
const itWithServers = itNeeding(noServers, process.env['CI'], 'concurrent');

const stops: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const started = async <D extends { readonly stop: () => Promise<void> }>(starting: Promise<D>): Promise<D> => {
  const daemon = await starting;
  stops.push(daemon.stop);
  return daemon;
};

const SOA = {
  name: 'example.',
  type: 6,
  data: Uint8Array.from([...wireName('ns.example'), ...wireName('host.example'), ...Buffer.alloc(20, 1)]),
};

function answer(query: WireQuery): readonly Uint8Array[] {
  if (query.name.endsWith('silent.example.')) return [];
  if (query.name === 'short.example.')
    return [respond(query, { flags: FLAGS.aa, answers: [{ ...addressRecord(query.name, '192.0.2.1'), ttl: 2 }] })];
  if (query.name !== 'example.') return [respond(query, { flags: FLAGS.aa, rcode: 3, authority: [SOA] })];
  const isSoa = query.type === SOA.type;
  return [respond(query, { flags: FLAGS.aa, ...(isSoa ? { answers: [SOA] } : { authority: [SOA] }) })];
}

/**
 * An unbound whose server of `example.` does not answer about `silent.example.`, and after `goAway` answers nothing.
 */
async function startUnsigned(
  options: Pick<UnboundOptions, 'servesExpired'> = {},
): Promise<{ readonly port: number; readonly goAway: () => void }> {
  let isAway = false;
  const authority = await startDnsServer((query) => (isAway ? [] : answer(query)));
  stops.push(() => authority.close());
  const unbound = { authorityPort: authority.port, zones: { 'example.': null }, ...options };
  const { port } = await started(startUnbound(unbound));
  return { port, goAway: () => void (isAway = true) };
}

/** Failure of a dns check of the name over the unbound at this port; null if it has none. */
async function failureAt(host: string, port: number): Promise<Failure | null> {
  return (await outcomeAt(host, port)).error;
}

async function outcomeAt(host: string, port: number): Promise<Outcome<typeof dns>> {
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  // Unbound tries silent servers for longer than this.
  const waits = { ...patientWaits, oneMs: [1_500], uncheckedMs: 20_000 };
  return runDns(
    { host, recordType: 'A', options: { transport: 'udp', ...flags } },
    testContext<typeof dns>({ resolvers: [`127.0.0.1:${port}`] }),
    undefined,
    waits,
  );
}

describe('a resolver (unbound)', () => {
  itWithUnbound('that waits for name servers of one name answers about others', async () => {
    const { port } = await startUnsigned();

    expect(await failureAt('a.silent.example', port)).toMatchObject({
      code: 'dns_servers_silent',
      source: 'resolver',
    });
  });

  itWithUnbound('that waits for those of every name, as without a network, says nothing about this one', async () => {
    const { port, goAway } = await startUnsigned();
    goAway();

    expect(await failureAt('b.silent.example', port)).toMatchObject({ code: 'timed_out' });
  });

  itWithUnbound('that gives expired answers at once does so only while the name servers are silent', async () => {
    const { port, goAway } = await startUnsigned({ servesExpired: true });
    const errorsOfDig = async (): Promise<unknown> => (await dig(port, [['short.example', 'A']]))[0]?.extendedErrors;
    const codesOf = async (): Promise<unknown> =>
      (await outcomeAt('short.example', port)).edns?.extendedErrors.map(({ code }) => code);
    await dig(port, [['short.example', 'A']]);
    await sleep(3_100);
    const answered = await codesOf();
    goAway();
    await sleep(3_100);

    expect([answered, await codesOf(), await errorsOfDig()]).toEqual([[], [3], [3]]);
  });

  /** A name for each first letter, so that no cached NSEC record covers all made-up names. */
  const letters = Array.from({ length: 36 }, (_, index) => index.toString(36));

  /** `example.` is signed. The server of `silent.example.` is silent by default. */
  const startLab = async (silence: (query: WireQuery) => readonly Uint8Array[] = () => []) => {
    const silent = await startDnsServer(silence);
    stops.push(() => silent.close());
    const apex = ['@ SOA ns host 1 7200 3600 1209600 3600', '@ NS ns', 'ns A 127.0.0.1', 'silent NS ns'];
    const lines = ['$ORIGIN example.', '$TTL 3600', ...apex, ...letters.map((letter) => `${letter} A 192.0.2.1`)];
    const { file, key } = await signZone('example.', `${lines.join('\n')}\n`);
    const knot = await started(startKnot({ zones: { 'example.': file } }));
    const ports = { 'silent.example.': silent.port };
    const resolver = await started(startUnbound({ authorityPort: knot.port, ports, zones: { 'example.': key } }));
    return { knot, resolver };
  };

  itWithServers(
    'that may deny names from cached NSEC records and reaches the top-level domain finds the servers of the name silent',
    async () => {
      const { resolver } = await startLab();

      expect(await failureAt('a.silent.example', resolver.port)).toMatchObject({ code: 'dns_servers_silent' });
    },
  );

  itWithServers(
    'that may deny names from cached NSEC records and is cut off from the network says nothing about the name',
    async () => {
      const { knot, resolver } = await startLab();
      const gaps = letters.flatMap((letter) => [`${letter}0.example`, `${letter}zz.example`]);
      await dig(
        resolver.port,
        gaps.map((name) => [name, 'A']),
      );
      process.kill(knot.pid, 'SIGSTOP');
      const [denied] = await dig(resolver.port, [['never-asked.example', 'A']]);
      const failure = await failureAt('a.example', resolver.port);
      process.kill(knot.pid, 'SIGCONT');

      expect(denied).toMatchObject({ rcode: 'NXDOMAIN' });
      expect(failure).toMatchObject({ code: 'timed_out' });
    },
  );

  itWithServers(
    'that may deny names from cached NSEC records and fails for the servers of the name reports the name',
    async () => {
      const { resolver } = await startLab((query) => [respond(query, { rcode: 2 })]);

      expect(await failureAt('a.silent.example', resolver.port)).toMatchObject({ code: 'dns_servfail' });
    },
  );

  itWithServers('that may deny names from cached NSEC records and fails for every name reports itself', async () => {
    const { knot, resolver } = await startLab((query) => [respond(query, { rcode: 2 })]);
    process.kill(knot.pid, 'SIGKILL');

    expect(await failureAt('b.silent.example', resolver.port)).toMatchObject({ code: 'dns_resolver_failing' });
  });
});
