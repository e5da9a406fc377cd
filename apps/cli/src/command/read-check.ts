import { isIP } from 'node:net';

import type { CheckRequest, PairRequest } from '@vantage/client';
import { parseCheckArguments, type FlagOptions, type ParsedArguments } from '@vantage/command-line';
import type { AnyCheckType } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';

import { readCommandTarget } from './read-target.ts';

/** Reads the words after the name of a check type: the request, the values of all flags, and the faults. */
export function readCheck(
  type: CheckTypeName,
  args: readonly string[],
  flags: FlagOptions,
): {
  readonly request: CheckRequest | PairRequest;
  readonly values: ParsedArguments['values'];
  readonly faults: readonly string[];
} {
  const checkType: AnyCheckType = checkTypes[type];
  const { host, fields, options, values, faults } = parseCheckArguments(type, args, flags, (text, given) =>
    readCommandTarget(checkType, text, given),
  );
  const limit = limitOf(values['limit']);
  const [locations, probes] = [listFrom(values['from']), listFrom(values['probes'])];
  const between = values['between'] === undefined ? undefined : listFrom([values['between'] as string]);
  const allFaults = [
    ...faults,
    ...(type === 'dns' && faults.length === 0 ? addressFaults(host, fields['recordType']) : []),
    ...(typeof limit === 'object' ? [limit.fault] : []),
    ...emptyFaults(values),
    ...(locations.length > 0 && probes.length > 0 ? ['unexpected --probes with --from; expected one of them'] : []),
    ...(between === undefined ? [] : pairFaults(between, host, values)),
  ];
  const request = {
    type,
    ...(between === undefined ? { host } : { between }),
    ...fields,
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(locations.length > 0 ? { locations } : {}),
    ...(probes.length > 0 ? { probes } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
  // The service validates the request against the schema from which the flags are derived.
  return { request: request as CheckRequest | PairRequest, values, faults: allFaults };
}

/**
 * Faults of a dns check of an address, which has PTR records only. Without a record type the check would ask for the
 * default one, which the service refuses for an address.
 */
function addressFaults(host: string, recordType: unknown): readonly string[] {
  const isAddress = isIP(host) > 0;
  if (!isAddress || recordType === 'PTR') return [];
  const given = typeof recordType === 'string' ? ` and ${recordType} records` : '';
  return [
    `invalid HOST "${host}": An address has PTR records only, a name A${given}. Did you mean "vantage dns ${host} PTR"?`,
  ];
}

function pairFaults(between: readonly string[], host: string, values: ParsedArguments['values']): readonly string[] {
  const others = (['from', 'probes', 'limit'] as const).filter((name) => values[name] !== undefined);
  return [
    ...(between.length === 2
      ? []
      : [`invalid --between "${between.join(',')}"; expected two probes, as in fra-1,nyc-1`]),
    ...(host === '' ? [] : [`unexpected argument "${host}" with --between, which names both ends`]),
    ...others.map((name) => `unexpected --${name} with --between, which names both probes`),
  ];
}

/**
 * Faults of an empty selection, as from an unset shell variable: without a selection, the service would choose the
 * probes.
 */
function emptyFaults(values: ParsedArguments['values']): readonly string[] {
  return Object.entries({ from: 'locations, such as de,AS3320', probes: 'ids of probes' }).flatMap(
    ([name, expected]) => {
      const given = values[name];
      const empty = Array.isArray(given) ? given.map(String).find((text) => text.split(',').some(isBlank)) : undefined;
      return empty === undefined ? [] : [`invalid --${name} "${empty}"; expected ${expected}, none of them empty`];
    },
  );
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function limitOf(text: ParsedArguments['values'][string]): number | { readonly fault: string } | undefined {
  if (text === undefined) return undefined;
  return typeof text === 'string' && /^\d{1,3}$/.test(text)
    ? Number(text)
    : { fault: `invalid --limit "${String(text)}"; expected an integer from 1 to 100` };
}

function listFrom(given: ParsedArguments['values'][string]): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given
    .flatMap((text) => String(text).split(','))
    .map((text) => text.trim())
    .filter((text) => !isBlank(text));
}
