import type { Check } from '@vantage/contract';

import { flagName } from './flags.ts';

/** The request of a check, as the arguments that repeat it; undefined for a check that an earlier release stored. */
export function requestText({ type, host, between, request }: Asked): string | undefined {
  if (request === undefined) return undefined;
  const { options = {}, withheld = [], ...fields } = request;
  const target = between === undefined ? quote(host) : `--between ${between.join(',')}`;
  const command = [type, target, ...Object.entries({ ...fields, ...options }).flatMap(flag)].join(' ');
  return withheld.length === 0 ? command : `${command}  (not shown: ${withheld.map(flagName).join(', ')})`;
}

type Asked = Pick<Check, 'type' | 'host' | 'between' | 'request'>;

function flag([field, value]: [string, unknown]): readonly string[] {
  const name = flagName(field);
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
  if (typeof value !== 'object' || value === null) return [`--${name} ${quote(String(value))}`];
  return Object.entries(value).map(([key, one]) => `--${name} ${quote(`${key}: ${String(one)}`)}`);
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return /^[\w.:/@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
