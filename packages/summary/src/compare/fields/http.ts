import type { Difference } from '@vantage/contract';

import { isMisdatedAlone } from '../../clock.ts';
import type { SparseResultOf } from '../../probe-result.ts';
import { safeText } from '../../words.ts';
import { differentTime, differentValue, type DifferenceDraft } from '../difference.ts';
import { singleChange } from '../noise.ts';

type Http = SparseResultOf<'http'>;

export function httpDifferences(a: Http, b: Http): readonly DifferenceDraft[] {
  return [
    ...differentValue({ subject: 'status', label: 'status' }, a.statusCode, b.statusCode),
    ...differentValue({ subject: 'redirect', name: 'url', label: 'URL' }, placeOf(a.url), placeOf(b.url)),
    ...differentValue(
      { subject: 'redirect', name: 'location', label: 'redirect to' },
      placeOf(a.location, a.url),
      placeOf(b.location, b.url),
    ),
    ...certificateDifferences(a, b),
    ...differentValue(
      { subject: 'protocol', name: 'httpVersion', label: 'HTTP version' },
      a.httpVersion,
      b.httpVersion,
    ),
    ...differentValue({ subject: 'protocol', name: 'tls', label: 'TLS version' }, a.tls?.protocol, b.tls?.protocol),
    ...phaseDifferences(a, b),
  ];
}

/** The URL without query and fragment, which often differ with each request. */
export function placeOf(url: string | null | undefined, base?: string): string | null | undefined {
  if (typeof url !== 'string') return url;
  const parsed = URL.parse(url, base);
  return parsed === null ? url : `${parsed.origin}${parsed.pathname}`;
}

function certificateDifferences(a: Http, b: Http): readonly Difference[] {
  const [ofA, ofB] = [a.tls?.chain[0], b.tls?.chain[0]];
  if (ofA === undefined || ofB === undefined) return [];
  const text = `certificate ${certificateText(ofA)} → ${certificateText(ofB)}${keyText(ofA, ofB)}`;
  const [printOfA, printOfB] = [ofA.fingerprint256, ofB.fingerprint256];
  return [
    ...differentValue({ subject: 'certificate', name: 'fingerprint256', label: '' }, printOfA, printOfB).map(
      (difference) => ({ ...difference, text }),
    ),
    ...differentValue({ subject: 'certificate', name: 'authorized', label: 'certificate' }, trustOf(a), trustOf(b)),
  ];
}

type Certificate = NonNullable<Http['tls']>['chain'][number];

/** States whether both certificates have the same key; empty if the key of one is not reported. */
function keyText({ publicKey256: a }: Certificate, { publicKey256: b }: Certificate): string {
  if (a === undefined || b === undefined) return '';
  return a === b ? ', with the same key' : ', with another key';
}

/** `trusted` or `refused (…)`; undefined if only a wrong clock of the probe makes the certificate invalid. */
export function trustOf(result: Http): string | undefined {
  if (isMisdatedAlone(result)) return undefined;
  const { authorized, authorizationError } = result.tls!;
  return authorized ? 'trusted' : `refused (${authorizationError ?? 'unknown reason'})`;
}

function certificateText({ fingerprint256, validUntil }: Certificate): string {
  const until = validUntil === null ? '' : ` (until ${validUntil.slice(0, 10)})`;
  return `${safeText(fingerprint256.slice(0, 11), 11)}…${until}`;
}

const phases = {
  dns: 'resolution',
  connect: 'TCP handshake',
  tls: 'TLS handshake',
  firstByte: 'first byte',
  download: 'download',
} as const;

/** Differences of the phases; of the total time only if no phase differs. */
function phaseDifferences({ timings: a }: Http, { timings: b }: Http): readonly DifferenceDraft[] {
  if (a === undefined || b === undefined) return [];
  const all = (Object.keys(phases) as (keyof typeof phases)[]).flatMap((name) =>
    timeDifference(name, phases[name], a[name], b[name]),
  );
  return all.length > 0 ? all : timeDifference('total', 'total time', a.total, b.total);
}

export function timeDifference(
  name: string,
  label: string,
  a: number | null | undefined,
  b: number | null | undefined,
): readonly DifferenceDraft[] {
  if (typeof a !== 'number' || typeof b !== 'number') return [];
  return differentTime({ subject: 'phase', name, label }, singleChange(a, b));
}
