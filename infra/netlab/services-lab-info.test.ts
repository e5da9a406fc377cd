import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { info } from '../../packages/diagnostics/src/types/info/contract.ts';
import { runInfo } from '../../packages/diagnostics/src/types/info/run.ts';
import { testContext } from '@vantage/test-support/context';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { startKnot, type Knot } from '@vantage/test-support/dns/knot';
import { itNeeding } from '@vantage/test-support/needs';
import { openGeo, type Geo } from '../../packages/geo/src/index.ts';
import {
  createAdmission,
  createNameLookup,
  createNameResolver,
  createTargetPolicy,
} from '../../packages/target-policy/src/index.ts';

const missing = await packagesMissing(['knot', 'knot-dnsutils']);
const itWithKnot = itNeeding(missing, process.env['CI']);

const soa =
  '@ 3600 SOA server.example.com. hostmaster.example.com. 1 7200 3600 1209600 300\n@ 60 NS server.example.com.';

/** Public addresses, since no other is admitted; nothing is sent to them. */
const zones = {
  'example.com.': [
    '$ORIGIN example.com.',
    soa,
    'www 60 A 1.1.1.1',
    'www 60 A 8.8.8.8',
    'www 60 AAAA 2001:4860:4860::8888',
    'honest 60 A 1.1.1.1',
    'honest 60 A 8.8.8.8',
    'liar 60 A 1.0.0.1',
    '',
  ].join('\n'),
  '1.1.1.1.in-addr.arpa.': `$ORIGIN 1.1.1.1.in-addr.arpa.\n${soa}\n@ 60 PTR honest.example.com.\n`,
  '8.8.8.8.in-addr.arpa.': `$ORIGIN 8.8.8.8.in-addr.arpa.\n${soa}\n@ 60 PTR honest.example.com.\n`,
  '9.9.9.9.in-addr.arpa.': `$ORIGIN 9.9.9.9.in-addr.arpa.\n${soa}\n@ 60 PTR liar.example.com.\n`,
};

let knot: Knot;
let geo: Geo;

beforeAll(async () => {
  if (missing !== null) return;
  knot = await startKnot({ zones });
  geo = await openGeo({ log: { info: () => undefined, warn: () => undefined } });
});

afterAll(async () => {
  await geo?.close();
  await knot?.stop();
});

/** An info check as agent and coordinator run it, with real names and admission. */
async function check(host: string, family?: 4 | 6): Promise<object> {
  const resolver = createNameResolver({ servers: [`127.0.0.1:${knot.port}`] });
  const admit = createAdmission({
    policy: createTargetPolicy(),
    resolver,
    ownAddresses: () => ({ addresses: [], onLink: [], gateways: [], resolvers: [] }),
    redis: () => [],
    haveIpv4: () => true,
    haveIpv6: () => true,
  });
  const names = createNameLookup({ resolver, showPrivateAddresses: false });
  const outcome = await runInfo(
    { host, options: family === undefined ? {} : { family } },
    testContext<typeof info>({ admit, names }),
  );
  return info.annotate!(outcome, geo.lookUp);
}

describe('an info check with a name server of another maker (knot)', () => {
  itWithKnot('shows every address of a name, and the confirmed name of the one that was chosen', async () => {
    const outcome = await check('www.example.com');

    expect(outcome).toMatchObject({
      result: 'success',
      hostname: 'honest.example.com',
      hostnameVerified: true,
      countryCode: expect.stringMatching(/^[A-Z]{2}$/),
      provider: expect.stringContaining('DB-IP (https://db-ip.com, CC BY 4.0)'),
    });
    expect(outcome).toHaveProperty('ip', expect.stringMatching(/^(1\.1\.1\.1|8\.8\.8\.8)$/));
    expect((outcome as { addresses: string[] }).addresses.toSorted()).toEqual([
      '1.1.1.1',
      '2001:4860:4860::8888',
      '8.8.8.8',
    ]);
  });

  itWithKnot('does not confirm a name that leads elsewhere, nor one that is not there', async () => {
    expect(await check('9.9.9.9')).toMatchObject({ hostname: 'liar.example.com', hostnameVerified: false });
    expect(await check('www.example.com', 6)).toMatchObject({
      ip: '2001:4860:4860::8888',
      hostname: null,
      hostnameVerified: null,
    });
  });
});
