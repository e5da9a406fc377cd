import type { Check, Probe, Probes } from '@vantage/contract';

import { world } from './probes.ts';

/** A hundred probes: those of the world repeated, at slightly different places and in eight networks. */
export const crowd: Probes = Object.fromEntries(
  Array.from({ length: 100 }, (_, index): [string, Probe] => {
    const [id, probe] = Object.entries(world)[index % 13]!;
    const round = Math.floor(index / 13);
    return [
      idOf(id, round),
      {
        ...probe,
        latitude: probe.latitude! + round * 0.7,
        longitude: probe.longitude! - round * 0.9,
        isp: `Example Network ${1 + (index % 8)}`,
        asNumber: `AS${64_496 + (index % 8)}`,
      },
    ];
  }),
);

function idOf(id: string, round: number): string {
  return id.replace('-1', `-${1 + round}`);
}

/** A check of the world from the crowd; most copies of the probes that fail there succeed. */
export function crowded(check: Check): Check {
  const base = Object.entries(check.results) as [string, Record<string, unknown>][];
  const good = base.find(([, { result }]) => result === 'success')![1];
  const results = Object.fromEntries(
    Object.keys(crowd).map((id, index) => {
      const result = base[index % 13]![1];
      return [id, result['result'] === 'success' || index % 4 === 0 ? result : good];
    }),
  );
  return { ...check, results };
}

/** True for the probes, more than half of the crowd, that `withDeadlineMissed` lets miss the deadline. */
export function isLate(id: string): boolean {
  return Object.keys(crowd).indexOf(id) % 5 < 3;
}

/** A check in which the coordinator has ended the jobs of many probes at the deadline, before their first result. */
export function withDeadlineMissed(check: Check): Check {
  const message = 'The probe did not answer before the deadline of the check.';
  const late = {
    result: 'timeout' as const,
    rt: null,
    resolvedIp: null,
    error: { code: 'probe_timeout' as const, phase: 'dispatch' as const, source: 'probe' as const, message },
    startedAt: null,
    finishedAt: check.completedAt,
  };
  const results = Object.entries(check.results).map(([id, result]) => [id, isLate(id) ? late : result]);
  return { ...check, results: Object.fromEntries(results) as Check['results'] };
}

/** A trace of the crowd in which each probe meets six routers that no other one meets, and then those of `check`. */
export function widelyTraced(check: Check): Check {
  const { results } = crowded(check);
  const wide = Object.entries(results).map(([id, result], index) => {
    const hops = result['hops'] as readonly Record<string, unknown>[];
    const own = Array.from({ length: 6 }, (_, hop) => {
      const who = {
        ip: `203.0.${index}.${hop + 1}`,
        hostname: null,
        asn: `AS${64_496 + index}`,
        asName: `Network ${index}`,
      };
      const seen = { ...who, private: false, hostnameVerified: null, rtts: [1, 1, 1] };
      return { ...hops[0], ...seen, hop: hop + 1, latency: 1, responders: [seen] };
    });
    return [id, { ...result, hops: [...own, ...hops.map((hop, at) => ({ ...hop, hop: at + 7 }))] }];
  });
  return { ...check, results: Object.fromEntries(wide) as Check['results'] };
}
