import type { FindingCode, Summary, Verdict } from '../../../packages/contract/src/index.ts';
import { traceroute } from '../../../packages/diagnostics/src/types/traceroute/contract.ts';
import { summarize, type ProbeFacts } from '../../../packages/summary/src/index.ts';
import { placeOf, PROBES } from '../addresses.ts';
import type { Case } from '../compile.ts';
import type { CaseRun, Share } from '../run-cases.ts';
import type { Claim } from '../scenario.ts';
import type { Complaint } from './complaint.ts';
import { verifyLinks } from './links.ts';
import { isFromTarget, isReordered, machineDelayMs, ownPassages, smallestMtu } from './truth.ts';

/** Facts about the probes, without coordinates: simulated round-trip times do not match distances. */
const facts: ReadonlyMap<string, ProbeFacts> = new Map(
  PROBES.map((probe, index) => [
    probe,
    {
      countryCode: ['DE', 'US', 'SG', 'BR'][index]!,
      asNumber: `AS${64_600 + index}`,
      isp: 'PROBES',
      city: 'City',
      datacenter: 'Here',
      latitude: null,
      longitude: null,
    },
  ]),
);

/** Delay by the machine, in milliseconds, above which round-trip times may vary and replies overtake each other. */
const STEADY_MS = 5;
const ofSlowMachines: readonly Claim[] = [
  { code: 'jitter_high' },
  { code: 'latency_outlier' },
  { code: 'replies_odd' },
];

export function summaryOf({ of, shares }: CaseRun): Summary {
  const at = '2026-01-01T00:00:00.000Z';
  const type = of.check === 'ping' ? 'ping' : 'traceroute';
  const results = Object.fromEntries(
    shares.map(({ probe, outcome }) => {
      const annotated = type === 'ping' ? outcome : traceroute.annotate!(outcome, placeOf);
      return [PROBES[probe]!, { ...annotated, startedAt: at, finishedAt: at }];
    }),
  );
  const check = {
    testId: 'qPUXvL1sQx2rGJm0Zf7N4w',
    type,
    host: of.address,
    status: 'completed' as const,
    createdAt: at,
  };
  return summarize({ ...check, completedAt: at, results }, facts, { placeOf });
}

export function verifySummary(run: CaseRun): readonly Complaint[] {
  const summary = summaryOf(run);
  const { finds, may, verdicts } = truthOf(run);
  if (run.shares.some((share) => machineDelayMs(run.of, share) > STEADY_MS)) may.push(...ofSlowMachines);
  // Stalls are the machine's own: the simulator causes none.
  if (run.shares.some(({ outcome }) => outcome['stalled'] !== undefined)) may.push({ code: 'probe_stalled' });
  const wrong: Complaint[] = [];
  for (const { code, text } of summary.findings) {
    const claims = [...finds, ...may].filter((claim) => claim.code === code);
    if (claims.length === 0) wrong.push({ kind: 'accusation', text: `${code}: ${text}` });
    else if (!claims.some((claim) => namesPlace(run, claim, text))) {
      const place = claims[0]!.hop === undefined ? listed(claims[0]!) : `hop ${claims[0]!.hop}`;
      wrong.push({ kind: 'place', text: `${code} names another place than ${place}: ${text}` });
    }
  }
  for (const { code } of finds) {
    if (!summary.findings.some((finding) => finding.code === code)) wrong.push({ kind: 'missed', text: code });
  }
  const isSlow = may.some(({ code }) => code === 'jitter_high') && summary.verdict === 'degraded';
  if (!verdicts.includes(summary.verdict) && !isSlow) {
    wrong.push({ kind: 'verdict', text: `${summary.verdict}, in truth ${verdicts.join(' or ')}: ${summary.headline}` });
  }
  return [...wrong, ...(summary.paths === undefined ? [] : verifyLinks(run, summary.paths))];
}

function namesPlace({ of }: CaseRun, { hop, addresses }: Claim, text: string): boolean {
  if (addresses !== undefined) return addresses.some((address) => hasAddress(text, address));
  if (hop === undefined || isBetween(text, hop)) return true;
  return of.places.some((place) => place.hop === hop && place.addresses.some((address) => hasAddress(text, address)));
}

/**
 * True if the text says “between hop A and hop B”, and the hop is after A and not after B; A counts as 0 if the text
 * names the probe instead.
 */
function isBetween(text: string, hop: number): boolean {
  const [, after = '', before = ''] = /between (?:hop (\d+)|\S+).*? and hop (\d+)/.exec(text) ?? [];
  return before !== '' && Number(after) < hop && hop <= Number(before);
}

function listed({ addresses = [] }: Claim): string {
  return addresses.length === 0 ? 'any router' : addresses.join(' or ');
}

function hasAddress(text: string, address: string): boolean {
  return text.split(/[^0-9a-f.:]+/).some((word) => word.replace(/[.:]$/, '') === address);
}

interface Expected {
  readonly finds: readonly Claim[];
  readonly may: Claim[];
  readonly verdicts: readonly Verdict[];
}

function truthOf(run: CaseRun): Expected {
  const { of, shares } = run;
  const truth = of.scenario.truth ?? {};
  const claims = (list: readonly (FindingCode | Claim)[] = []): readonly Claim[] =>
    list.map((one) => (typeof one === 'string' ? { code: one } : one));
  if (of.check === 'ping') {
    const { pingFinds = [], pingMay, pingVerdicts = ['up'] } = truth;
    const errors = shares.flatMap((share) => ownPassages(of, share).flatMap(({ answers }) => answers));
    const senders = errors.filter(({ what }) => what !== 'reply').map(({ from }) => from);
    const refused: readonly Claim[] = [{ code: 'icmp_refused', addresses: senders }];
    const isOdd = shares.some((share) => isReordered(ownPassages(of, share)));
    const odd: readonly Claim[] = isOdd ? [{ code: 'replies_odd' }] : [];
    return { finds: pingFinds, may: [...claims(pingMay), ...refused, ...odd], verdicts: pingVerdicts };
  }
  const isSmall = shares.some(({ passages }) => smallestMtu(of, passages) < 1_500);
  const isAnswered = shares.some((share) => ownPassages(of, share).some((passage) => isFromTarget(of, passage)));
  // The target answered, but some trace ended before it reached the target: a finding that accuses no hop.
  const isCut = isAnswered && shares.some(({ outcome }) => outcome['stopReason'] !== 'completed');
  // Probes whose trace ends at a hole, if any packet to the target was answered.
  const isThere = shares.some(({ passages }) => passages.some((passage) => isFromTarget(of, passage)));
  const broken = isThere ? shares.filter((share) => holeHop(of, share) !== undefined) : [];
  const isEchoed = ({ passages }: Share): boolean => passages.some((passage) => isFromTarget(of, passage));
  const unheard = broken.filter((share) => !isEchoed(share));
  const isPartly = unheard.length > 0;
  const stopOf = (share: Share): Claim => ({ code: 'path_stops', hop: holeHop(of, share)! });
  // The silence of a probe proves nothing if its trace reached the time limit, or if a finding names the broken one of
  // two paths: all flows of the probe may take that path.
  const isNamed = truth.finds?.some((find) => (typeof find === 'string' ? find : find.code) === 'flows_stop') === true;
  const unproved = unheard.filter(({ outcome }) => isNamed || outcome['stopReason'] === 'deadline');
  const ends: readonly Claim[] = [
    ...broken.filter(isEchoed).map((): Claim => ({ code: 'path_cut' })),
    ...unheard.filter((share) => !unproved.includes(share)).map(stopOf),
  ];
  const verdictsOf = (): readonly Verdict[] => {
    if (unheard.length > unproved.length) return ['partial'];
    if (broken.length > 0) return isPartly ? ['degraded', 'partial'] : ['degraded'];
    // Without an answer the target was not measured, and nothing is wrong.
    return truth.verdicts ?? (isAnswered ? ['up'] : ['unknown']);
  };
  return {
    finds: [...(truth.finds ?? []), ...ends],
    may: [
      ...(isPartly ? [{ code: 'down_one_probe' as const }, { code: 'down_some' as const }] : []),
      ...unproved.map(stopOf),
      ...unproved.map((): Claim => ({ code: 'path_cut' })),
      ...claims(truth.may),
      ...(isSmall ? [{ code: 'path_mtu_small' as const }] : []),
      ...(isCut ? [{ code: 'path_cut' as const }] : []),
    ],
    verdicts: verdictsOf(),
  };
}

/**
 * Hop of the first hole at which a packet of the probe ended; undefined without one, or if any packet reached the
 * target.
 */
function holeHop(of: Case, share: Share): number | undefined {
  const own = ownPassages(of, share);
  if (own.some(({ trail }) => trail.includes(of.places.length - 1))) return undefined;
  const holes = own.flatMap(({ trail, fate }) => (fate === 'lost' ? [of.places[trail.at(-1)!]!] : []));
  return holes.find(({ hole }) => hole === true)?.hop;
}
