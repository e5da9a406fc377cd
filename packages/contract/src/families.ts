import type { InputError } from './check-type.ts';
import { commonResultFields, type CommonResult, type FinalOutcome } from './result.ts';
import type { Family } from './formats.ts';
import type { Traffic } from './traffic.ts';
import { Type, type Static, type TObject, type TProperties } from './type.ts';

/** Option of the check types that can run over both address families in one check. */
export const familiesSchema = Type.Enum([4, 6, 'both'], {
  description:
    'Address family to use. Default: IPv4 if target and probe have it, else IPv6. `both`: each probe ' +
    'measures over IPv4 and IPv6 at the same time, and `otherFamily` of its result has the second measurement.',
});

interface Asked {
  readonly family?: Family | 'both' | undefined;
}

/** Agents of earlier releases reject a word for `family`: jobs carry this option instead, which those agents ignore. */
const BOTH_FAMILIES = 'bothFamilies';

/** Whether a client or a job requests both families. */
export function wantsBothFamilies(options: Asked): boolean {
  return options.family === 'both' || (options.family === undefined && isMarked(options));
}

/** Whether this is one of the two measurements of a check over both families. */
export function isOneOfBoth(options: Asked): boolean {
  return typeof options.family === 'number' && isMarked(options);
}

function isMarked(options: Asked): boolean {
  return (options as { readonly [BOTH_FAMILIES]?: unknown })[BOTH_FAMILIES] === true;
}

/** The only family that the measurement may use; undefined if it may use either, or the check measures over both. */
export function singleFamily({ family }: Asked): Family | undefined {
  return family === 'both' ? undefined : family;
}

/** Parameters of one of the two measurements of a check over both families. */
export function paramsOverFamily<P extends { readonly options: Asked }>(params: P, family: Family): P {
  return { ...params, options: { ...params.options, family, [BOTH_FAMILIES]: true } };
}

/** Parameters as jobs carry them; null if those of the request can be sent as they are. */
export function jobOverFamilies(params: { readonly options: Asked }): object | null {
  if (params.options.family !== 'both') return null;
  const { family: _family, ...options } = params.options;
  return { ...params, options: { ...options, [BOTH_FAMILIES]: true } };
}

/** Traffic of a check, given that of the measurement over one family. */
export function trafficOverFamilies(options: Asked, { packets, bytes }: Traffic): Traffic {
  return wantsBothFamilies(options) ? { packets: 2 * packets, bytes: 2 * bytes } : { packets, bytes };
}

/** @param name host name or address of the request */
export function familyErrors(options: Asked, name: string): InputError[] {
  const isLiteral = name.includes(':') || /^\d+(?:\.\d+){3}$/.test(name);
  if (options.family !== 'both' || !isLiteral) return [];
  return [{ path: '/options/family', message: 'must be 4 or 6, or absent, for an address: only a name can have both' }];
}

/** The second measurement of a result. */
export type OtherFamily<R extends TProperties> = {
  readonly family: Family;
  /** Absent while the measurement runs. */
  readonly result?: FinalOutcome;
} & Partial<Pick<CommonResult, 'rt' | 'resolvedIp' | 'error' | 'stalled'>> &
  Partial<Static<TObject<R>>>;

/** Adds the measurement over the other family to the result fields of a type. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- TypeBox infers it
export function withOtherFamily<R extends TProperties>(fields: R) {
  const { result, rt, resolvedIp, error, stalled } = commonResultFields;
  const own = { result, rt, resolvedIp, error, stalled, ...fields };
  const optional = Object.fromEntries(Object.entries(own).map(([name, schema]) => [name, Type.Optional(schema)]));
  const otherFamily = Type.Unsafe<OtherFamily<R>>(
    Type.Object(
      { ...optional, family: Type.Enum([4, 6], { description: 'Family of this measurement.' }) },
      {
        additionalProperties: false,
        description:
          'With `family: "both"`: the measurement over IPv6, that over IPv4 is in the other fields; the other way round if IPv6 ' +
          'alone could be measured, or works. It has the fields of any result. Absent from an agent that does not know it.',
      },
    ),
  );
  return { ...fields, otherFamily };
}
