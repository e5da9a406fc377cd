import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { testContext } from '@vantage/test-support/context';
import { temporaryFolder } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { dig, digMissing } from '@vantage/test-support/dns/dig';
import { startKnot } from '@vantage/test-support/dns/knot';
import { itNeeding } from '@vantage/test-support/needs';

import { startUnbound } from '../../../test/dns-daemons.ts';
import { delvSays } from '../../../test/dns-second-opinion.ts';
import { signZone } from '../../../test/dns-signed-by-hand.ts';
import { patientWaits } from '../../../test/patient-waits.ts';
import type { Outcome } from '../../diagnostic.ts';
import type { dns } from './contract.ts';
import { runDns } from './run.ts';

const noServers = await packagesMissing(['knot', 'knot-dnsutils'], ['bind9'], ['unbound']);
const itWithServers = itNeeding(noServers ?? (await digMissing()), process.env['CI']);

const [PLAIN, GOOD, BOGUS] = ['plain.example.', 'good.example.', 'bogus.example.'];
const head = '$TTL 300\n@ SOA ns.example. admin.example. 1 3600 600 86400 300\n@ NS ns.example.\n';
const zone = `${head}www A 192.0.2.10\n`;

interface Lab {
  /** Port of a validating resolver with a right clock, and with one that is years ahead. */
  readonly right: number;
  readonly wrong: number;
  readonly anchors: string;
}

let lab: Lab;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if ((noServers ?? (await digMissing())) === null) lab = await startLab();
});

afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
});

/**
 * A signed root, a zone without signatures and two signed ones, one with an address that was changed after it was
 * signed.
 */
async function startLab(): Promise<Lab> {
  const root = await signZone('.', `${head}example. NS ns.example.\nns.example. A 127.0.0.1\n`);
  const [good, bogus] = [await signZone(GOOD, zone), await signZone(BOGUS, zone)];
  const files = {
    [PLAIN]: zone,
    '.': root.file,
    [GOOD]: good.file,
    [BOGUS]: bogus.file.replaceAll('192.0.2.10', '192.0.2.66'),
  };
  const knot = await startKnot({ zones: files });
  stops.push(knot.stop);
  const zones = { [PLAIN]: null, '.': root.key, [GOOD]: good.key, [BOGUS]: bogus.key };
  const ports = await Promise.all(
    [undefined, '20400101000000'].map(async (now) => {
      const unbound = await startUnbound({ authorityPort: knot.port, zones, ...(now === undefined ? {} : { now }) });
      stops.push(unbound.stop);
      return unbound.port;
    }),
  );
  const folder = await temporaryFolder();
  stops.push(folder.remove);
  const anchors = join(folder.path, 'anchors');
  const [flags, protocol, algorithm, ...base64] = good.key.split(' ');
  await writeFile(
    anchors,
    `trust-anchors {\n  "${GOOD}" static-key ${flags} ${protocol} ${algorithm} "${base64.join('')}";\n};\n`,
  );
  return { right: ports[0]!, wrong: ports[1]!, anchors };
}

async function outcomeOf(port: number, host: string): Promise<Outcome<typeof dns>> {
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true, nsid: false, trace: false };
  const params = { host, recordType: 'A', options: { transport: 'udp' as const, ...flags } };
  const context = testContext<typeof dns>({ resolvers: [`127.0.0.1:${port}`] });
  return runDns(params, context, undefined, patientWaits);
}

describe('a validating resolver', () => {
  itWithServers('with a right clock validates one zone, and the other one fails validation', async () => {
    expect(await outcomeOf(lab.right, `www.${GOOD}`)).toMatchObject({ dnssec: { verdict: 'validated' } });
    expect(await outcomeOf(lab.right, `www.${BOGUS}`)).toMatchObject({
      error: { code: 'dns_servfail' },
      dnssec: { verdict: 'validation_failed' },
    });
  });

  itWithServers('with a wrong clock, which fails validation for every zone, says nothing about the name', async () => {
    const [answer] = await dig(lab.wrong, [[`www.${GOOD}`, 'A']]);
    const valid = await delvSays(lab.wrong, `www.${GOOD}`, 'A', lab.anchors, GOOD);
    const outcomes = [await outcomeOf(lab.wrong, `www.${GOOD}`), await outcomeOf(lab.wrong, `www.${BOGUS}`)];

    // The signatures are right: delv validates them with its own clock.
    expect([answer?.rcode, valid]).toEqual(['SERVFAIL', 'fully validated']);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ error: { code: 'dns_resolver_failing' }, dnssec: { verdict: 'unknown' } });
      expect(outcome.error?.message).toMatch(/its clock or its trust anchor/);
    }
  });
});
