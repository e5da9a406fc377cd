import { parseArgs, type ParseArgsConfig } from 'node:util';

import { escapeText, type ProbeRecord } from '@vantage/contract';

import { openProbeRecords } from './open-probe-records.ts';
import type { ProbeRecords } from './probe-records.ts';
import { createProbeValidators, type ProbeValidators } from './probe-validators.ts';

export interface AdminStreams {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

const usage = `Usage:
  probe:add <id> --name <text> --datacenter <text> --country <code> --isp <text> --asn AS<digits>
            [--city <text>] [--lat <degrees>] [--lon <degrees>] [--tag <tag>[,<tag>...]]
  probe:list
  probe:remove <id>`;

/** Options of `add`, and the field of the record that each is. */
const fieldOf = {
  name: 'name',
  datacenter: 'datacenter',
  country: 'countryCode',
  isp: 'isp',
  asn: 'asNumber',
  city: 'city',
  lat: 'latitude',
  lon: 'longitude',
  tag: 'tags',
} as const satisfies Record<string, keyof ProbeRecord>;

const options = {
  ...Object.fromEntries(Object.keys(fieldOf).map((name) => [name, { type: 'string' as const }])),
  tag: { type: 'string', multiple: true },
} satisfies ParseArgsConfig['options'];

/**
 * The operator's commands on probe records.
 *
 * @param args command (`add`, `list`, `remove`) and its arguments
 * @returns the exit code: 0 done, 1 Redis refused or nothing was there, 2 arguments that cannot be used
 */
export async function runProbeAdmin(
  args: readonly string[],
  redisUrl: string,
  { out, err }: AdminStreams,
): Promise<number> {
  const validators = createProbeValidators();
  const [command, ...rest] = args;
  if (command === 'add') {
    const read = readRecord(rest, validators);
    if ('faults' in read) {
      for (const fault of read.faults) err(fault);
      err(usage);
      return 2;
    }
    return withRecords(redisUrl, err, async (records) => {
      await records.write(read.record);
      out(`Probe ${read.record.id} is recorded.`);
      return 0;
    });
  }
  if (command === 'list' && rest.length === 0) {
    return withRecords(redisUrl, err, async (records) => {
      for (const record of await records.list()) out(JSON.stringify(record));
      return 0;
    });
  }
  const [id] = rest;
  if (command === 'remove' && rest.length === 1 && id !== undefined && !id.startsWith('-')) {
    return withRecords(redisUrl, err, async (records) => {
      const removed = await records.remove(id);
      if (removed) out(`Probe ${id} is removed.`);
      else err(`There is no probe ${escapeText(id, 80)}.`);
      return removed ? 0 : 1;
    });
  }
  err(usage);
  return 2;
}

type ReadRecord = { readonly record: ProbeRecord } | { readonly faults: readonly string[] };

/** Turns arguments into a record. Every faulty argument gets a line of its own. */
export function readRecord(args: readonly string[], validators: ProbeValidators): ReadRecord {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return { faults: [Error.isError(error) ? error.message : String(error)] };
  }
  const { values, positionals } = parsed;
  if (positionals.length !== 1) return { faults: ['Exactly one probe id is needed.'] };
  const text = (name: keyof typeof fieldOf): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const record = {
    id: positionals[0],
    name: text('name'),
    datacenter: text('datacenter'),
    countryCode: text('country')?.toUpperCase(),
    isp: text('isp'),
    asNumber: text('asn')?.toUpperCase(),
    city: text('city') ?? null,
    latitude: degrees(text('lat')),
    longitude: degrees(text('lon')),
    tags: values.tag?.flatMap((tags) => tags.split(',')) ?? [],
  };
  // Absent and undefined are the same to the schema, which then says "required".
  const faults = validators.recordFaults(JSON.parse(JSON.stringify(record)));
  if (faults.length > 0) return { faults: faults.map(({ field, message }) => `${optionOf(field)}: ${message}`) };
  return { record: record as ProbeRecord };
}

function parse(args: readonly string[]): {
  readonly values: Readonly<Record<string, unknown>> & { readonly tag?: readonly string[] };
  readonly positionals: readonly string[];
} {
  return parseArgs({ args: joinNegative(args), options, allowPositionals: true, strict: true });
}

/** `--lon -8.7` as `--lon=-8.7`: a negative number looks like an option to the parser. */
function joinNegative(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (/^-[\d.]/.test(arg) && isDegrees(args[index - 1])) return [];
    const next = args[index + 1];
    return isDegrees(arg) && next !== undefined && /^-[\d.]/.test(next) ? [`${arg}=${next}`] : [arg];
  });
}

function isDegrees(arg: string | undefined): boolean {
  return arg === '--lat' || arg === '--lon';
}

/** A text that is no number stays one, for the schema to refuse. */
function degrees(text: string | undefined): number | string | null {
  if (text === undefined) return null;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

function optionOf(field: string): string {
  const [name] = Object.entries(fieldOf).find(([, of]) => of === field) ?? [];
  return name === undefined ? `<${field}>` : `--${name}`;
}

async function withRecords(
  redisUrl: string,
  err: (line: string) => void,
  run: (records: ProbeRecords) => Promise<number>,
): Promise<number> {
  try {
    const { records, close } = await openProbeRecords(redisUrl);
    try {
      return await run(records);
    } finally {
      await close();
    }
  } catch (error) {
    err(`Redis did not do it: ${Error.isError(error) ? error.message : String(error)}`);
    return 1;
  }
}
