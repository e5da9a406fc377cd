import { buildFinding, type FindingDraft } from '../finding.ts';
import { groupBy } from '../probe-result.ts';
import { listed, naming, unique } from '../words.ts';
import { brokenPathsOf, type BrokenPath } from './multipath/broken-paths.ts';
import { meaningOf } from './steps/refusal-marks.ts';
import { HIDDEN_ROUTER } from './refusals/refusals.ts';
import type { MultipathNode } from './multipath/nodes.ts';
import { stepText, type Trace } from './trace.ts';

/** Findings of searches for all paths: broken paths behind a balancer, one finding per balancer. */
export function findBrokenBranches(traces: readonly Trace[]): readonly FindingDraft[] {
  const broken = traces
    .filter(({ isFinal, isReached }) => isFinal && isReached)
    .flatMap((trace) => brokenPathsOf(trace.branching, trace.fullTtl).map((way) => ({ trace, way })));
  return [...Map.groupBy(broken, ({ way }) => way.fork.id).values()].map((own) => {
    const probeResults = groupBy([...new Set(own.map(({ trace }) => trace.probeResult))], () => 'all')[0]![1];
    const [{ trace, way }] = own as [(typeof own)[number]];
    const { subject, verb } = waysText(own);
    const fork = nodeText(way.fork, trace);
    const ends = listed(unique([...refusalTexts(own), ...silenceText(own)]), 4);
    const text = `${subject} behind ${fork} ${verb} broken: ${ends}, on the way from ${naming(probeResults)}, while packets on other ways reach the target.`;
    const brief = `${subject.replace(/^[OA]/, (letter) => letter.toLowerCase())} behind ${fork} ${verb} broken`;
    return buildFinding('flows_stop', 'warning', probeResults, text, brief);
  });
}

interface Found {
  readonly trace: Trace;
  readonly way: BrokenPath;
}

function refusalTexts(own: readonly Found[]): readonly string[] {
  const refused = own.filter(({ way }) => way.last.kind === 'refused');
  return refused.map(({ trace, way: { last } }) => {
    const where = last.ip === null ? HIDDEN_ROUTER : nodeText(last, trace);
    const errors = [...trace.steps.map(({ icmp }) => icmp), trace.fullTtl?.icmp];
    const mark = errors.find((icmp) => icmp?.from === last.ip)?.mark;
    return `${where} ${mark === undefined ? 'refuses the packets' : `said that ${meaningOf(mark)}`}`;
  });
}

function silenceText(own: readonly Found[]): readonly string[] {
  const silent = own.filter(({ way }) => way.last.kind !== 'refused');
  if (silent.length === 0) return [];
  const lasts = silent.filter(({ way }) => way.last !== way.fork);
  const beyond = listed(unique(lasts.map(({ way, trace }) => nodeText(way.last, trace))), 3);
  return [`nothing comes back ${beyond === '' ? 'right behind it' : `from beyond ${beyond}`}`];
}

/**
 * `One of the 2 ways found`; without a number if some paths begin with silence, or with a hidden address in traces of
 * several probes, because several of these may be the same path.
 */
function waysText(own: readonly Found[]): { readonly subject: string; readonly verb: string } {
  const ways = own.flatMap(({ way: { fork } }) => fork.next.map(({ to }) => to));
  const isHidden = ways.some(({ ip }) => ip === null) && new Set(own.map(({ trace }) => trace)).size > 1;
  if (isHidden || ways.some(({ kind }) => kind === 'silent'))
    return { subject: 'At least one of the ways', verb: 'is' };
  const count = (nodes: readonly MultipathNode[]): number =>
    unique(nodes.map(({ ip, index }) => ip ?? String(index))).length;
  const [broken, all] = [count(own.map(({ way }) => way.first)), count(ways)];
  return broken === 1
    ? { subject: `One of the ${all} ways found`, verb: 'is' }
    : { subject: `${broken} of the ${all} ways found`, verb: 'are' };
}

function nodeText({ ip, hop, private: isPrivate }: MultipathNode, { steps }: Trace): string {
  const router = steps.flatMap(({ routers }) => routers).find((one) => one.ip === ip);
  const bare = ip === null ? [] : [{ ip, hostname: null, asn: null, asName: null, rttMin: null }];
  return stepText({ hop, routers: router === undefined ? bare : [router], isPrivate });
}
