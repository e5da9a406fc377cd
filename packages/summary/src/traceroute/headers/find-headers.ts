import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy, type SparseResultOf } from '../../probe-result.ts';
import { thresholds } from '../../thresholds.ts';
import { listed, naming } from '../../words.ts';
import { stepText, targetIndex, type Step, type Trace, type TraceResult } from '../trace.ts';

type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];
type Reply = NonNullable<Hop['replies']>[number];

/** Findings about the headers of replies: fields of the quoted packets, and the return path of the replies. */
export function findHeaders(traces: readonly Trace[]): readonly FindingDraft[] {
  const final = traces.filter(({ isFinal }) => isFinal);
  return [...marked(final), ...translated(final), ...tunnels(final), ...waysBack(final)];
}

/** A hop whose replies agree on one value of a property of the quoted packets. */
interface Quoting<T> {
  readonly hop: number;
  readonly value: T;
}

/** Hops of a trace whose replies give one value; replies without a value do not count. */
function quotingHops<T>(trace: Trace, valueOf: (reply: Reply) => T | undefined): readonly Quoting<T>[] {
  return hopsOf(trace).flatMap(({ hop, replies = [] }) => {
    const values = [...new Set(replies.map(valueOf))].filter((value) => value !== undefined);
    return values.length === 1 ? [{ hop, value: values[0]! }] : [];
  });
}

/**
 * The first hop of those at the end of the path that all quote the same value. Undefined unless these are two or more,
 * because a single router may merely quote packets differently.
 */
function lastingFrom<T>(hops: readonly Quoting<T>[]): Quoting<T> | undefined {
  const value = hops.at(-1)?.value;
  const first = hops.findLastIndex((one) => one.value !== value) + 1;
  return hops.length - first < 2 ? undefined : hops[first];
}

/** Finding: routers changed the DSCP. */
function marked(traces: readonly Trace[]): readonly FindingDraft[] {
  const changes = traces.flatMap((trace) => {
    const hops = quotingHops(trace, ({ quotedDscp }) => quotedDscp);
    const changed = lastingFrom(hops);
    const sent = trace.probeResult.result.dscp ?? 0;
    if (changed === undefined || changed.value === sent) return [];
    const before = hops.findLast(({ hop }) => hop < changed.hop);
    const isNext = changed.hop - 1 === before?.hop;
    const from = before?.value ?? sent;
    const where = `${isNext ? 'at' : 'by'} ${at(trace, changed.hop)}`;
    return [{ probeResult: trace.probeResult, text: `DSCP ${from} becomes ${changed.value} ${where}`, isNext }];
  });
  const findingsOf = (own: readonly Told[], who: string): readonly FindingDraft[] =>
    grouped(own).map(([text, probeResults]) =>
      buildFinding('dscp_changed', 'info', probeResults, `${text}, for packets of ${naming(probeResults)}: ${who}.`),
    );
  return [
    ...findingsOf(
      changes.filter(({ isNext }) => isNext),
      'that router or the one before it rewrites the field',
    ),
    ...findingsOf(
      changes.filter(({ isNext }) => !isNext),
      'the field is rewritten there or earlier',
    ),
  ];
}

/**
 * Finding: routers quote packets with other addresses, ports or checksums than were sent, so a device before them
 * translates addresses.
 */
function translated(traces: readonly Trace[]): readonly FindingDraft[] {
  const changes = traces.flatMap((trace) => {
    const hops = quotingHops(trace, ({ type, rewritten = [] }) =>
      type === undefined ? undefined : rewritten.join(' '),
    );
    const changed = lastingFrom(hops);
    if (changed === undefined || changed.value === '') return [];
    // Routers that lower the maximum segment size of a SYN change its checksum as well.
    if (changed.value === 'checksum' && trace.probeResult.result.protocol === 'tcp') return [];
    const fields = listed(
      changed.value
        .split(' ')
        .map((field) => (field === 'ports' ? 'other ports' : `another ${field}${fieldWord(field)}`)),
    );
    return [{ probeResult: trace.probeResult, text: `From ${at(trace, changed.hop)} on, routers quote ${fields}` }];
  });
  return grouped(changes).map(([text, probeResults]) =>
    buildFinding(
      'path_translated',
      'info',
      probeResults,
      `${text} than ${naming(probeResults)} sent: addresses are translated (NAT) at that hop or before it.`,
    ),
  );
}

function fieldWord(field: string): string {
  return field === 'checksum' ? '' : ' address';
}

/** Finding: successive routers received packets with a TTL of 2, 3, 4 … instead of 1, as behind a hidden tunnel. */
function tunnels(traces: readonly Trace[]): readonly FindingDraft[] {
  const found = traces.flatMap((trace) => {
    const timeExceeded = trace.target?.includes(':') === true ? 3 : 11;
    const hidden = hopsOf(trace)
      .filter(({ mpls }) => mpls.length === 0)
      .flatMap(({ hop, replies = [] }) => {
        const [ttl, ...others] = new Set(
          replies.map((reply) => (reply.type === timeExceeded ? reply.quotedTtl : undefined)),
        );
        return ttl !== undefined && others.length === 0 ? [{ hop, ttl }] : [];
      });
    const isNext = (a: (typeof hidden)[number], b: (typeof hidden)[number] | undefined): boolean =>
      b?.hop === a.hop + 1 && b.ttl === a.ttl + 1;
    return hidden.flatMap((first, index) => {
      if (first.ttl !== 2) return [];
      let last = index;
      while (isNext(hidden[last]!, hidden[last + 1])) last += 1;
      const end = hidden[last]!;
      if (end === first) return [];
      const text = `Hops ${first.hop} to ${end.hop}, beginning with ${at(trace, first.hop)}, got packets with ${first.ttl} to ${end.ttl} hops left`;
      return [{ probeResult: trace.probeResult, text }];
    });
  });
  return grouped(found).map(([text, probeResults]) =>
    buildFinding(
      'hidden_tunnel',
      'info',
      probeResults,
      `${text} instead of 1, as in a tunnel that shows no labels (such as MPLS), for packets of ${naming(probeResults)}.`,
    ),
  );
}

/**
 * Finding: the target's replies, and those of a router before it, pass more or fewer hops than the packets that they
 * answer.
 */
function waysBack(traces: readonly Trace[]): readonly FindingDraft[] {
  const found = traces.flatMap((trace) => {
    const index = targetIndex(trace);
    const end = index === undefined ? undefined : trace.steps[index]!.hop;
    const ways = hopsOf(trace).flatMap((hop) => wayBackOf(hop) ?? []);
    const [router, target] = [ways.findLast(({ hop }) => hop < (end ?? 0)), ways.find(({ hop }) => hop === end)];
    if (router === undefined || target === undefined) return [];
    const { minHops, spread } = thresholds.wayBack;
    const [ofTarget, ofRouter] = [target.hops - target.hop, router.hops - router.hop];
    const isShifted = Math.abs(ofTarget) >= minHops && Math.abs(ofRouter - ofTarget) <= spread;
    return isShifted ? [{ ...trace.probeResult, target }] : [];
  });
  if (found.length === 0) return [];
  const values = listed(found.map(({ probe, target }) => `${probe} ${target.hop} there and about ${target.hops} back`));
  const text = `Replies come back over another number of hops than the packets take: ${values}. The way back is guessed from the TTL of the replies; hops that a tunnel hides on the way there look the same.`;
  return [buildFinding('way_back_differs', 'info', found, text)];
}

/** Common initial TTLs of IP stacks. */
const FIRST_TTLS = [64, 128, 255] as const;

/** Number of hops on the return path of the replies, guessed from their TTL; undefined unless all have the same TTL. */
function wayBackOf({ hop, replies = [] }: Hop): { readonly hop: number; readonly hops: number } | undefined {
  const [ttl = null, ...others] = new Set(replies.map((reply) => reply.ttl));
  const first = FIRST_TTLS.find((one) => ttl !== null && one >= ttl);
  return ttl === null || first === undefined || others.length > 0 ? undefined : { hop, hops: first - ttl + 1 };
}

function hopsOf({ probeResult }: Trace): readonly Hop[] {
  return (probeResult.result.hops ?? []).toSorted((a, b) => a.hop - b.hop);
}

function at({ steps }: Trace, hop: number): string {
  const step: Step | undefined = steps.find((one) => one.hop === hop);
  return step === undefined ? `hop ${hop}` : stepText(step);
}

type Told = Readonly<{ probeResult: TraceResult; text: string }>;

function grouped(told: readonly Told[]): readonly (readonly [string, readonly TraceResult[]])[] {
  return groupBy(
    told.map(({ probeResult, text }) => ({ ...probeResult, text })),
    ({ text }) => text,
  );
}
