import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import type { Outcome } from '../../packages/diagnostics/src/diagnostic.ts';
import type { tcp } from '../../packages/diagnostics/src/types/tcp/contract.ts';
import type { udp } from '../../packages/diagnostics/src/types/udp/contract.ts';
import type { Daemon } from '@vantage/test-support/daemon';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';
import { netlabMissing } from './netlab.ts';
import { labServices, startService } from './services-lab-daemons.ts';
import { filterPackets } from './services-lab-filter.ts';
import { scanPorts, type NmapPort } from './services-lab-nmap.ts';
import { startLabChecks, type LabChecks } from './services-lab-runner.ts';
import { createServicesLab, labFamilies, labPorts, type ServicesLab } from './services-lab.ts';

type Tcp = Outcome<typeof tcp>;
type Udp = Outcome<typeof udp>;

const needed = [['nmap'], ['nftables'], ...labServices.map(({ packages }) => packages)];
const missing = netlabMissing() ?? (await packagesMissing(...needed));
const itInLab = itNeeding(missing, process.env['CI']);

/** Port without a listener. */
const CLOSED = 81;
/** Port of Knot, over UDP and TCP. */
const OPEN = 53;

let lab: ServicesLab;
let checks: LabChecks;
let daemons: readonly Daemon[] = [];

beforeAll(async () => {
  if (missing !== null) return;
  lab = createServicesLab();
  checks = startLabChecks(lab);
  await filterPackets(lab);
  daemons = await Promise.all(labServices.map((service) => startService(lab, service)));
});

afterAll(async () => {
  await checks?.stop();
  await Promise.all(daemons.map(({ stop }) => stop()));
  lab?.remove();
});

async function check<T>(type: 'tcp' | 'udp', host: string, port: number): Promise<T> {
  // Servers answer at once, and may be asked again on a busy machine; each silence is awaited once.
  const isSilent = port === labPorts.dropped || labFamilies.some(({ blackHole }) => host === blackHole);
  return (await checks.run({ type, host, fields: { port }, options: { attempts: isSilent ? 1 : 3 } })) as T;
}

describe.each(labFamilies)('over IPv$family', ({ family, target, router, prohibited, unreachable, blackHole }) => {
  const elsewhere = [prohibited, unreachable, blackHole];

  /** Statements of nmap and of our check about each port, by the same key. */
  async function bothViews<T>(
    type: 'tcp' | 'udp',
    ports: readonly number[],
  ): Promise<readonly (readonly [nmap: NmapPort, ours: T])[]> {
    const scanned = Promise.all([
      scanPorts(lab, type, family, [target], ports),
      scanPorts(lab, type, family, elsewhere, [CLOSED]),
    ]);
    const asked = [
      ...ports.map((port) => [target, port] as const),
      ...elsewhere.map((host) => [host, CLOSED] as const),
    ];
    const checked = await Promise.all(asked.map(([host, port]) => check<T>(type, host, port)));
    const seen = (await scanned).flat();
    return asked.map(([host, port], at) => [seen.find((row) => row.host === host && row.port === port)!, checked[at]!]);
  }

  itInLab(
    'a tcp check finds the state that nmap finds: open, reset, dropped, refused by a filter or a router',
    async () => {
      const views = await bothViews<Tcp>('tcp', [OPEN, CLOSED, ...Object.values(labPorts)]);

      expect(views.map(([, { state }]) => state)).toEqual(views.map(([{ state }]) => state));
      expect(new Set(views.map(([{ state }]) => state))).toEqual(new Set(['open', 'closed', 'filtered']));
      const codes = Object.fromEntries(views.map(([{ reason }, { error }]) => [reason, error?.code ?? null]));
      expect(codes).toEqual({
        'syn-ack': null,
        reset: 'connection_refused',
        'no-response': 'timed_out',
        'admin-prohibited': 'administratively_prohibited',
        'host-unreach': 'host_unreachable',
        'port-unreach': 'port_unreachable',
      });
      // A filtered port that is not silent was refused by an ICMP error; nmap names its sender if that is not the
      // host.
      const senders = views.map(([{ state, reason, from, host }]) =>
        state === 'filtered' && reason !== 'no-response' ? (from ?? host) : undefined,
      );
      expect(views.map(([, { icmp }]) => icmp?.from)).toEqual(senders);
    },
  );

  itInLab('a udp check finds the state that nmap finds, and who sent the ICMP error', async () => {
    const services = labServices.map(({ port }) => port);
    const views = await bothViews<Udp>('udp', [...services, CLOSED, labPorts.dropped, labPorts.prohibited]);

    for (const [{ host, port, state, from }, ours] of views) {
      // A port that nmap calls filtered caused an ICMP error other than port unreachable.
      const expected = state === 'filtered' ? 'unreachable' : services.includes(port) ? 'open' : state;
      const sender = state === 'closed' || state === 'filtered' ? (from ?? host) : undefined;
      expect([host, port, ours.state, ours.icmp?.from]).toEqual([host, port, expected, sender]);
    }
    expect(new Set(views.map(([{ state }]) => state))).toEqual(
      new Set(['open', 'closed', 'open|filtered', 'filtered']),
    );
    expect(new Set(views.flatMap(([{ from }]) => from ?? []))).toEqual(new Set([router]));
  });

  for (const { name, port, isAnswer } of labServices) {
    itInLab(`a udp check gets the answer of ${name} on port ${port}`, async () => {
      const outcome = await check<Udp>('udp', target, port);

      expect(outcome).toMatchObject({ result: 'success', state: 'open', error: null, icmp: null });
      expect(isAnswer(Buffer.from(outcome.response ?? '', 'base64'))).toBe(true);
      expect(outcome.rt).toBeGreaterThan(0);
    });
  }
});
