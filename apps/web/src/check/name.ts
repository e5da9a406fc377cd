import { labelOf } from '../format.ts';
import type { RequestFields } from './request.ts';

/** The parts of a check's name. */
export interface CheckName {
  /** `ping`, `dns MX`. */
  readonly kind: string;
  /** `example.com`, `example.com:443`, `[2001:db8::1]:53`. */
  readonly target: string;
  /** The other fields and options as far as known, such as `Count 16 · Family 6`; of withheld ones the names. */
  readonly details: string;
}

/** Fields that `details` does not list: they are part of `kind` and `target`, select probes, or are `withheld`. */
const NAMED: ReadonlySet<string> = new Set([
  'type',
  'host',
  'port',
  'recordType',
  'between',
  'probes',
  'locations',
  'limit',
  'withheld',
]);

export function nameOfCheck(type: string, host: string, asked: RequestFields): CheckName {
  const { port, recordType = type === 'dns' ? DEFAULT_RECORD_TYPE : undefined, options = {}, withheld = [] } = asked;
  const fields = Object.entries(asked).filter(([name]) => !NAMED.has(name) && name !== 'options');
  return {
    kind: typeof recordType === 'string' ? `${type} ${recordType.toUpperCase()}` : type,
    target: typeof port === 'number' ? `${host.includes(':') ? `[${host}]` : host}:${port}` : host,
    details: [...[...fields, ...Object.entries(options as object)].map(detail), ...withheld.map(labelOf)].join(' · '),
  };
}

/** Record type of a request without one: the service does not repeat defaults. */
const DEFAULT_RECORD_TYPE = 'A';

/** Class of the heading of a target: `long`, for a smaller font, if the target is long; otherwise undefined. */
export function headingClass(target: string): string | undefined {
  return target.length > LONG_TARGET ? 'long' : undefined;
}

const LONG_TARGET = 60;

function detail([name, value]: [string, unknown]): string {
  if (value === true || typeof value === 'object') return labelOf(name);
  return value === false
    ? `${labelOf(name)}: no`
    : `${labelOf(name)} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}
