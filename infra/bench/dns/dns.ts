import { dig, digMissing } from '@vantage/test-support/dns/dig';
import { decodeHostile, hostileMessages } from '../../../packages/diagnostics/test/dns-fuzz.ts';
import { signedZones, startKnot, type Knot } from '@vantage/test-support/dns/knot';
import { zoneRecords } from '@vantage/test-support/dns/zone';
import { median, type Figure } from '../goals.ts';
import { askDns } from './ask.ts';
import { cpuPerCheck } from './cpu.ts';

const ROUNDS = 200;
const WARM_UP = 50;
const HOSTILE_MESSAGES = 10_000;

/**
 * dns and tcp checks compared with `dig`, `kdig` and the blackbox exporter, all against the same servers on loopback.
 */
export async function dns(): Promise<readonly Figure[]> {
  const missing = await digMissing();
  if (missing !== null) throw new Error(missing);
  const knot = await startKnot();
  try {
    return [...(await rtts(knot)), ...(await texts(knot)), hostile(), ...(await cpuPerCheck(knot.port))];
  } finally {
    await knot.stop();
  }
}

const QUESTION = [`www.${signedZones.plain}`, 'A'] as const;

/** The tools alternate, so that a slow moment of the machine affects all of them. */
async function rtts({ port, kdig }: Knot): Promise<readonly Figure[]> {
  for (let round = 0; round < WARM_UP; round += 1) await askDns(port, ...QUESTION);
  const [ours, digs, kdigs]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push((await askDns(port, ...QUESTION)).rt!);
    digs.push((await dig(port, [QUESTION]))[0]!.queryMs);
    kdigs.push(Number(/ in ([\d.]+) ms$/m.exec(await kdig('+stats', ...QUESTION))?.[1]));
  }
  const [rt, digRt, kdigRt] = [ours, digs, kdigs].map(median) as [number, number, number];
  const comparison = `dig ${digRt.toFixed(3)} ms, resolution 0.001; kdig ${kdigRt.toFixed(1)} ms, resolution 0.1`;
  return [
    { name: 'RTT, p50', value: rt, unit: 'ms', comparison },
    { name: 'RTT p50, more than dig', value: rt - digRt, unit: 'ms', atMost: 0.2, comparison },
    { name: 'RTT p50, more than kdig', value: rt - kdigRt, unit: 'ms', atMost: 0.2, comparison },
  ];
}

/** Every type of the zone, queried by the check and by dig. */
async function texts({ port }: Knot): Promise<readonly Figure[]> {
  const names = [
    ...zoneRecords.map(({ owner, type }) => [`${owner}.${signedZones.plain}`, type] as const),
    ...(['SOA', 'DNSKEY', 'NSEC', 'RRSIG'] as const).map((type) => [signedZones.nsec, type] as const),
    [signedZones.nsec3, 'NSEC3PARAM'] as const,
  ];
  const dug = await dig(
    port,
    names.map((question) => [...question, '+dnssec']),
  );
  const differing: string[] = [];
  for (const [at, [name, type]] of names.entries()) {
    const { answers = [], authority = [] } = await askDns(port, name, type, { dnssecOk: true });
    const ours = [...answers, ...authority].map(({ name, ttl, type, data }) => [name, ttl, type, data]);
    const theirs = [...dug[at]!.answers, ...dug[at]!.authority].map(({ name, ttl, type, data }) => [
      name,
      ttl,
      type,
      data,
    ]);
    if (JSON.stringify(ours) !== JSON.stringify(theirs)) differing.push(type);
  }
  const comparison = differing.length === 0 ? 'all equal' : `not equal: ${differing.join(', ')}`;
  return [
    { name: 'record types compared with dig', value: names.length, unit: 'types', atLeast: 30 },
    {
      name: 'record types whose text is not that of dig',
      value: differing.length,
      unit: 'types',
      atMost: 0,
      comparison,
    },
  ];
}

function hostile(): Figure {
  const messages = hostileMessages(Date.now() & 0xff_ff);
  const outcomes = new Map<string, number>();
  const started = performance.now();
  for (let round = 0; round < HOSTILE_MESSAGES; round += 1) {
    const outcome = decodeHostile(round % 2 === 0 ? messages.random() : messages.mutated());
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const us = ((performance.now() - started) * 1_000) / HOSTILE_MESSAGES;
  const [read, refused] = [outcomes.get('read') ?? 0, outcomes.get('refused') ?? 0];
  const comparison = `${read} read, ${refused} refused by the typed error, ${us.toFixed(0)} µs each`;
  const name = `untyped throws at ${HOSTILE_MESSAGES} random and mutated messages`;
  return { name, value: HOSTILE_MESSAGES - read - refused, unit: 'messages', atMost: 0, comparison };
}
