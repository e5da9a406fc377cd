import type { Difference, PathChange, PathComparison } from '@vantage/contract';

import type { Trace } from '../../traceroute/trace.ts';
import { asText, countOf, safeText } from '../../words.ts';
import { shareRouter } from './align.ts';

/**
 * If each trace has at least this many flows, the text does not advise to trace more flows to distinguish a changed
 * path from a load balancer.
 */
const TELLING_FLOWS = 16;

const MOST_VALUES = 64;

/**
 * The comparison of two paths as a difference, uncertain unless the path is known to have changed; of traces to two
 * addresses, that these are not compared. None if nothing differs.
 */
export function pathDifferences(
  { relation, changes, a: pathA, b: pathB }: PathComparison,
  a: Trace | undefined,
  b: Trace | undefined,
): readonly Difference[] {
  const [change] = changes;
  if (relation === 'not_compared' && a !== undefined && b !== undefined) return otherTarget(a, b);
  if (change === undefined || a === undefined || b === undefined) return [];
  const more = changes.length === 1 ? '' : ` and at ${countOf(changes.length - 1, 'other place')}`;
  const [lengthOfA, lengthOfB] = [pathA!.hops.length, pathB!.hops.length];
  const isLonger = a.isReached && b.isReached && lengthOfA !== lengthOfB;
  const length = isLonger ? `; ${lengthOfA} → ${countOf(lengthOfB, 'hop')}` : '';
  const certain = relation === 'changed';
  return [
    {
      subject: 'path',
      name: null,
      certain,
      a: valuesOf(changes.flatMap((one) => one.a)),
      b: valuesOf(changes.flatMap((one) => one.b)),
      text: `path ${changeText(change, a, b)}${more}${length}${certain ? interfaceText(changes) : doubtText(changes, a, b)}`,
    },
  ];
}

/**
 * A change that several runs prove together, as a clause: paths of a load balancer that are gone or new, or other hops.
 */
export function lastingText(changes: readonly PathChange[], a: Trace, b: Trace): string {
  const [change] = changes;
  const more = changes.length === 1 ? '' : ` and at ${countOf(changes.length - 1, 'other place')}`;
  const reason = kindOfLasting(changes) === 'ways' ? `, ${waysText(changes)}` : interfaceText(changes);
  return `path ${changeText(change!, a, b)}${more}${reason}`;
}

/**
 * `ways` if the paths share a router at a changed hop, as when a balancer keeps one path and loses or gains others.
 * Otherwise by `kindOfChange`.
 */
export function kindOfLasting(changes: readonly PathChange[]): 'path' | 'ways' | 'hop' {
  const isBalanced = changes.some(({ a, b }) => a.some((hop, index) => shareRouter(hop, b[index] ?? [])));
  return isBalanced ? 'ways' : kindOfChange(changes);
}

/**
 * True if equally many hops differ at the same TTLs of both paths: routers may answer from other interfaces because
 * their return paths changed.
 */
function mayBeInterfaces(changes: readonly PathChange[]): boolean {
  return changes.every(({ hopA, hopB, a, b }) => hopA !== null && hopA === hopB && a.length === b.length);
}

/**
 * `hop` if nothing differs, or only single hops at the same TTL with unchanged hops between them; `path` for several
 * hops in a row, more or fewer hops, or other TTLs.
 */
export function kindOfChange(changes: readonly PathChange[]): 'path' | 'hop' {
  const hops = changes.flatMap(({ hopA }) => hopA ?? []);
  const isInRow = changes.some(({ a }) => a.length > 1) || hops.some((hop) => hops.includes(hop + 1));
  return mayBeInterfaces(changes) && !isInRow ? 'hop' : 'path';
}

function interfaceText(changes: readonly PathChange[]): string {
  if (!mayBeInterfaces(changes)) return '';
  if (kindOfChange(changes) === 'path') return ', unless these routers answer by other interfaces';
  return changes.length === 1
    ? ', another router or the same one by another interface'
    : ', other routers or the same ones by other interfaces';
}

function otherTarget(a: Trace, b: Trace): readonly Difference[] {
  if (a.target === null || b.target === null || a.target === b.target) return [];
  const text = 'path not compared: it leads to another address';
  return [{ subject: 'path', name: null, certain: false, a: [], b: [], text }];
}

function changeText({ hopA, hopB, a: ofA, b: ofB }: PathChange, a: Trace, b: Trace): string {
  if (hopA === null) return `with ${hopsText(ofB, b)} in addition at ${hopName(hopB!, ofB)}`;
  if (hopB === null) return `without ${hopsText(ofA, a)} at ${hopName(hopA, ofA)}`;
  return `at ${hopName(hopA, ofA)}: ${hopsText(ofA, a)} → ${hopsText(ofB, b)}`;
}

function hopName(first: number, hops: readonly unknown[]): string {
  return hops.length < 2 ? `hop ${first}` : `hops ${first} to ${first + hops.length - 1}`;
}

/** Maximum number of hops, and of routers of one hop, that a sentence lists. */
const [NAMED_HOPS, NAMED_ALTERNATIVES] = [3, 2];

function hopsText(hops: readonly (readonly string[])[], trace: Trace): string {
  if (hops.length > 1 && hops.every(isSilent)) return countOf(hops.length, 'silent hop');
  const named = hops.slice(0, NAMED_HOPS).map((addresses) => hopText(addresses, trace));
  return [...named, ...(hops.length > NAMED_HOPS ? [`${hops.length - NAMED_HOPS} more`] : [])].join(', ');
}

const isSilent = (addresses: readonly string[]): boolean => addresses.length === 0;

function hopText(addresses: readonly string[], { steps }: Trace): string {
  if (isSilent(addresses)) return 'a silent hop';
  const [first] = addresses;
  const router = steps.flatMap(({ routers }) => routers).find(({ ip }) => ip === first);
  const network = asText(router?.asn, router?.asName);
  if (addresses.length === 1) return `${safeText(first!, 45)}${network === undefined ? '' : ` in ${network}`}`;
  const rest = addresses.length - NAMED_ALTERNATIVES;
  return `${addresses.slice(0, NAMED_ALTERNATIVES).join(' or ')}${rest > 0 ? ` or ${rest} more` : ''}`;
}

function doubtText(changes: readonly PathChange[], a: Trace, b: Trace): string {
  if (changes.every((change) => isOfSilence(change, a, b)))
    return `, unanswered packets to the target, a change or alternatives of a load balancer`;
  if (changes.every(isOfWays)) return `, ${waysText(changes)}, unless chance missed one`;
  const isFew = Math.min(a.routes.length, b.routes.length) < TELLING_FLOWS;
  const advice = isFew ? `; ${TELLING_FLOWS} flows in both checks would tell if it is a balancer` : '';
  const isOne = changes.length === 1 && changes[0]!.a.length === 1;
  const same = isOne ? ', another interface of the same router' : ', other interfaces of the same routers';
  const interfaces = mayBeInterfaces(changes) ? same : '';
  return `, a change${interfaces} or alternatives of a load balancer${advice}`;
}

/** True if each hop has a router that both traces show: then only further next hops of a balancer differ. */
function isOfWays({ a, b }: PathChange): boolean {
  return a.length > 0 && a.every((hop, index) => shareRouter(hop, b[index] ?? []));
}

/**
 * True if one path only has additional silent hops directly before the target. A target that does not answer at its own
 * hop appears at a later one.
 */
function isOfSilence({ hopA, hopB, a, b }: PathChange, traceA: Trace, traceB: Trace): boolean {
  const [hop, hops, { steps, target }] = hopA === null ? [hopB, b, traceB] : [hopA, a, traceA];
  if ((a.length > 0 && b.length > 0) || !hops.every(isSilent)) return false;
  const next = steps.find((step) => step.hop === hop! + hops.length);
  return next?.routers.some(({ ip }) => ip === target) === true;
}

function waysText(changes: readonly PathChange[]): string {
  const isWithin = (less: 'a' | 'b', more: 'a' | 'b'): boolean =>
    changes.every((change) => change[less].every((hop, index) => hop.every((ip) => change[more][index]!.includes(ip))));
  if (isWithin('b', 'a')) return 'fewer ways of a load balancer';
  if (isWithin('a', 'b')) return 'more ways of a load balancer';
  return 'other ways of a load balancer or other interfaces of its routers';
}

function valuesOf(hops: readonly (readonly string[])[]): string[] {
  return hops
    .slice(0, MOST_VALUES)
    .map((addresses) => (addresses.length === 0 ? '*' : addresses.join(' ').slice(0, 256)));
}
