import { readTarget, targetMistake, type TargetMistake } from '@vantage/client';

import type { FormDefinition } from '../../build/check-forms.ts';
import { forms } from './forms.ts';
import { pairIn, type FormValues } from './values.ts';

const types = forms.map(({ type }) => type);

/**
 * The mistake in a target that was typed, with the checks that were probably meant; undefined if none is known. The
 * module is loaded on demand.
 */
export function mistakeIn(host: string, form: FormDefinition, values: FormValues): TargetMistake | undefined {
  if (form.takesPairs && pairIn(host) !== undefined) return undefined;
  return (
    twoPorts(host, form, values) ??
    addressAsName(host, form, values) ??
    targetMistake(host, { ...form, hasPort: 'port' in form.fields, types })
  );
}

/** A port in the host that contradicts the field of the port. */
function twoPorts(typed: string, { type, fields }: FormDefinition, values: FormValues): TargetMistake | undefined {
  const { host, port } = readTarget(typed);
  const field = String(values['port'] ?? '').trim();
  if (!('port' in fields) || port === undefined || field === '' || Number(field) === Number(port)) return undefined;
  const fixes = [port, field].flatMap((one) => (/^\d+$/.test(one) ? { type, host, port: Number(one) } : []));
  return { message: `Two ports were given: ${port} behind the host, and ${field}.`, fixes };
}

/** An address as the name of a dns check whose record type is not PTR. */
function addressAsName(
  typed: string,
  { type, hostKind }: FormDefinition,
  values: FormValues,
): TargetMistake | undefined {
  const { host } = readTarget(typed);
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host) || /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i.test(host);
  if (hostKind !== 'name' || !isAddress || /^(?:ptr|type12)$/i.test(String(values['recordType'] ?? 'A')))
    return undefined;
  return {
    message: `${host} is an address, which has PTR records only.`,
    fixes: [
      { type, host, recordType: 'PTR' },
      { type: 'info', host },
    ],
  };
}
