import { escapeText, type Check } from '@vantage/contract';

/** Title of a check: `tcp example.com:443`, `dns MX example.com`; without control characters. */
export function nameOfCheck({ type, host, request, results }: Check): string {
  const named = (field: string): unknown =>
    request?.[field] ?? Object.values(results).find((result) => result[field] !== undefined)?.[field];
  // The stored request omits fields with default values, and results may be missing while the check is pending.
  const recordType = named('recordType') ?? (type === 'dns' ? 'A' : undefined);
  const port = type === 'traceroute' ? undefined : named('port');
  const kind = typeof recordType === 'string' ? `${type} ${recordType}` : type;
  const target = typeof port === 'number' ? `${host.includes(':') ? `[${host}]` : host}:${port}` : host;
  return escapeText(`${kind} ${target}`, LONGEST_NAME);
}

/** Limit of a name, with room for the type, a host of 253 characters and a port. */
const LONGEST_NAME = 300;
