import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import type { Outcome } from '../../packages/diagnostics/src/diagnostic.ts';
import type { dns } from '../../packages/diagnostics/src/types/dns/contract.ts';
import type { http } from '../../packages/diagnostics/src/types/http/contract.ts';
import type { ping } from '../../packages/diagnostics/src/types/ping/contract.ts';
import type { tcp } from '../../packages/diagnostics/src/types/tcp/contract.ts';
import type { udp } from '../../packages/diagnostics/src/types/udp/contract.ts';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from './netlab.ts';
import { filterPackets, FLAKY_PAYLOAD_BYTES } from './services-lab-filter.ts';
import { startLabChecks, type LabChecks } from './services-lab-runner.ts';
import { createServicesLab, labFamilies, labPorts, type ServicesLab } from './services-lab.ts';

const missing = netlabMissing() ?? (await packagesMissing(['nftables'], ['iputils-ping']));
const itInLab = itNeeding(missing, process.env['CI']);

/** Port without a listener. */
const CLOSED = 81;

const dnsOptions = {
  dnssecOk: false,
  checkingDisabled: false,
  recursionDesired: true,
  nsid: false,
  trace: false,
  transport: 'udp',
};
const httpOptions = { method: 'GET', headers: {}, followRedirects: 0, httpVersion: 'auto', screenshot: false };

let lab: ServicesLab;
let checks: LabChecks;

beforeAll(async () => {
  if (missing !== null) return;
  lab = createServicesLab();
  checks = startLabChecks(lab);
  await filterPackets(lab);
});

afterAll(async () => {
  await checks?.stop();
  lab?.remove();
});

describe.each(labFamilies)('an ICMP error over IPv$family', ({ family, target, router, unreachable, blackHole }) => {
  const hostUnreachable = family === 4 ? { type: 3, code: 1 } : { type: 1, code: 3 };
  const portUnreachable = family === 4 ? { type: 3, code: 3 } : { type: 1, code: 4 };
  const inUrl = family === 4 ? unreachable : `[${unreachable}]`;
  const attempts = { attempts: 1 };

  itInLab('ends a tcp check with its type, code and sender', async () => {
    const away = (await checks.run({
      type: 'tcp',
      host: unreachable,
      fields: { port: CLOSED },
      options: attempts,
    })) as Outcome<typeof tcp>;
    const rejected = (await checks.run({
      type: 'tcp',
      host: target,
      fields: { port: labPorts.rejected },
      options: attempts,
    })) as Outcome<typeof tcp>;

    expect(away).toMatchObject({
      result: 'failure',
      state: 'filtered',
      icmp: { ...hostUnreachable, from: router },
      error: { code: 'host_unreachable', phase: 'connect', source: 'network' },
    });
    expect(rejected).toMatchObject({
      result: 'failure',
      state: 'filtered',
      icmp: { ...portUnreachable, from: target },
      error: { code: 'port_unreachable', phase: 'connect', source: 'target' },
    });
  });

  itInLab('ends a dns check over UDP, and names the sender', async () => {
    const outcome = (await checks.run({
      type: 'dns',
      host: 'example.com',
      fields: { recordType: 'A' },
      options: { ...dnsOptions, resolver: inUrl },
    })) as Outcome<typeof dns>;

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: 'dns_resolver_unreachable', source: 'network' },
    });
    expect(outcome.error?.message).toContain(router);
  });

  itInLab('ends an http check, and names the sender', async () => {
    const outcome = (await checks.run({
      type: 'http',
      host: `http://${inUrl}/`,
      fields: { insecureSSL: false },
      options: httpOptions,
    })) as Outcome<typeof http>;

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'host_unreachable', phase: 'connect' } });
    expect(outcome.error?.message).toContain(router);
  });

  itInLab('that a probe cannot read is reported as unread', async () => {
    const blind = { isBlind: true, options: attempts } as const;
    const [silent, refused, hidden] = (await Promise.all([
      checks.run({ ...blind, type: 'udp', host: unreachable, fields: { port: CLOSED } }),
      checks.run({ ...blind, type: 'tcp', host: target, fields: { port: CLOSED } }),
      checks.run({ ...blind, type: 'tcp', host: blackHole, fields: { port: CLOSED } }),
    ])) as [Outcome<typeof udp>, Outcome<typeof tcp>, Outcome<typeof tcp>];

    expect(silent).toMatchObject({ result: 'timeout', state: 'open|filtered', icmpUnread: true });
    expect(silent.error?.message).toContain('cannot read ICMP errors');
    expect(refused).toMatchObject({ result: 'failure', state: 'closed', icmp: null, icmpUnread: true });
    expect(hidden).toMatchObject({ result: 'timeout', state: 'filtered', icmpUnread: true });
  });

  itInLab('about every other packet is the loss that the real ping sees', async () => {
    const size = FLAKY_PAYLOAD_BYTES;
    const outcome = (await checks.run({
      type: 'ping',
      host: target,
      options: { count: 4, interval: 200, size },
    })) as Outcome<typeof ping>;
    const seen = await lab.run('probe', 'ping', '-n', '-c', '4', '-i', '0.2', '-s', String(size), target);

    expect(outcome).toMatchObject({ result: 'success', pingCount: 4, pingCompleted: 2, loss: 0.5 });
    expect(outcome.packets?.map(({ rtt, icmp }) => (rtt === null ? icmp : 'reply'))).toEqual([
      { ...hostUnreachable, from: target },
      'reply',
      { ...hostUnreachable, from: target },
      'reply',
    ]);
    expect(seen).toContain('4 packets transmitted, 2 received');
  });
});
