import { answeringRecords } from '@vantage/diagnostics/reply-texts';

import { duration, percent } from '../format.ts';
import { toneOf } from '../parts/status.ts';
import { wordOf } from '../words.ts';
import { phasesOf, type Timings } from '../phases.ts';
import type { Result } from './use-check.ts';

/** A column of the probe table. */
export interface Column {
  readonly key: string;
  readonly title: string;
  /** Undefined values sort last. */
  readonly sortBy: (result: Result) => number | string | undefined;
  readonly text: (result: Result) => string;
  readonly isNumber?: boolean;
}

const outcome: Column = {
  key: 'result',
  title: 'Outcome',
  // Failures first, then what says nothing about the target.
  sortBy: (result) => ['bad', 'warn', 'mute', 'wait', 'good'].indexOf(toneOf(result)),
  text: ({ result, error }) => (error === null || error === undefined ? wordOf(result) : codeWords(error.code)),
};

const rt = (title: string): Column => ({ ...number('rt', title, duration), key: 'rt' });

const address: Column = text('resolvedIp', 'Address');

const columns: Readonly<Record<string, readonly Column[]>> = {
  ping: [
    outcome,
    number('rttAvg', 'Average', duration),
    number('rttMin', 'Fastest', duration),
    number('rttMax', 'Slowest', duration),
    number('jitter', 'Jitter', duration),
    number('loss', 'Loss', percent),
    address,
  ],
  http: [
    outcome,
    number('statusCode', 'Status', String),
    computed('rt', 'First byte', firstByteOf),
    computed('total', 'Total', totalOf),
    text('httpVersion', 'HTTP'),
    text('sslVersion', 'TLS'),
    address,
  ],
  dns: [
    outcome,
    text('rcode', 'Code'),
    {
      key: 'answers',
      title: 'Answers',
      sortBy: (result) => answersOf(result).length,
      text: (result) => `${shortList(answersOf(result))}${isCutList(result) ? ' or more' : ''}`,
    },
    rt('Time'),
    text('resolver', 'Resolver'),
    text('transport', 'Over'),
  ],
  tcp: [outcome, text('state', 'State'), rt('Handshake'), address],
  udp: [outcome, text('state', 'State'), rt('Answer'), number('responseBytes', 'Bytes', String), address],
  traceroute: [
    outcome,
    {
      key: 'hops',
      title: 'Hops',
      isNumber: true,
      sortBy: (result) => hopsOf(result),
      text: (result) => String(hopsOf(result) ?? '–'),
    },
    rt('To target'),
    number('pathMtu', 'Path MTU', (bytes) => (bytes < 1_500 ? String(bytes) : `${bytes} or more`)),
    address,
  ],
  info: [
    outcome,
    text('ip', 'Address'),
    text('asn', 'Network'),
    text('asName', 'Network name'),
    text('city', 'City'),
    text('country', 'Country'),
  ],
};

const common: readonly Column[] = [outcome, rt('Time'), address];

/** The columns of a type; unknown types get those that every result has. */
export function columnsOf(type: string): readonly Column[] {
  return columns[type] ?? common;
}

/** Titles and texts of a row's cells. */
export function cellsOf(type: string, result: Result): readonly (readonly [string, string])[] {
  return columnsOf(type).map((column) => [column.title, column.text(result)]);
}

/** `connection_refused` becomes `Connection refused`. */
export function codeWords(code: string): string {
  const words = code
    .replaceAll('_', ' ')
    .replace(/\b(dns|tls|http|icmp|mtu)\b/g, (word) => word.toUpperCase())
    .replace(/\bnxdomain\b/, 'NXDOMAIN')
    .replace(/\bservfail\b/, 'SERVFAIL');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function number(field: string, title: string, write: (value: number) => string): Column {
  const read = (result: Result): number | undefined => {
    const value = result[field];
    return typeof value === 'number' ? value : undefined;
  };
  const shown = (result: Result): string => {
    const value = read(result);
    return value === undefined ? '–' : write(value);
  };
  return { key: field, title, isNumber: true, sortBy: read, text: shown };
}

/** A column of durations. */
function computed(key: string, title: string, read: (result: Result) => number | undefined): Column {
  return { key, title, isNumber: true, sortBy: read, text: (result) => duration(read(result)) };
}

function text(field: string, title: string): Column {
  const read = (result: Result): string | undefined => {
    const value = result[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return { key: field, title, sortBy: read, text: (result) => read(result) ?? '–' };
}

function totalOf(result: Result): number | undefined {
  const timings = result['timings'] as Timings | undefined;
  // While a probe measures, the total is that of the phases so far.
  return timings === undefined || result.result === 'pending' ? undefined : redirectMs(result) + timings.total;
}

/** Milliseconds from the start, redirects included, to the first byte of the response; `rt` is the end of its head. */
function firstByteOf(result: Result): number | undefined {
  const timings = result['timings'] as Timings | undefined;
  const phase = timings === undefined ? undefined : phasesOf(timings).find(({ name }) => name === 'firstByte');
  return phase === undefined ? undefined : redirectMs(result) + phase.start + phase.length;
}

/** Time of the redirects before the last request; 0 without any. */
function redirectMs(result: Result): number {
  const redirects = (result['redirects'] ?? []) as readonly { readonly timings: Timings }[];
  return redirects.reduce((sum, { timings }) => sum + timings.total, 0);
}

function answersOf(result: Result): readonly string[] {
  return answeringRecords(result as unknown as Parameters<typeof answeringRecords>[0]).map(({ data }) => data);
}

/** True if the answer may have more records than the several in the result. */
function isCutList(result: Result): boolean {
  return result['truncated'] === true && answersOf(result).length > 1;
}

function hopsOf(result: Result): number | undefined {
  return (result['hops'] as readonly unknown[] | undefined)?.length;
}

function shortList(values: readonly string[]): string {
  if (values.length === 0) return '–';
  return values.length === 1 ? values[0]! : `${values[0]!} +${values.length - 1}`;
}
