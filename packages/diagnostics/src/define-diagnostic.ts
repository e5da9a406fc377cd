import { paramsOverFamily, wantsBothFamilies, type AnyCheckType, type Family, type ParamsOf } from '@vantage/contract';

import type { Diagnostic, DiagnosticContext, Outcome, PartialFields } from './diagnostic.ts';

/** Codes of failures that mean that there was nothing to measure over a family. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['dns_no_address', 'family_unavailable']);

/** A diagnostic whose run measures over both address families if its parameters ask for them. */
export function defineDiagnostic<C extends AnyCheckType>(checkType: C, run: Diagnostic<C>['run']): Diagnostic<C> {
  return { checkType, run: (params, context) => runOverFamilies(run, params, context) };
}

/** Runs over IPv4 and IPv6 concurrently if the parameters request both, otherwise once with the parameters as given. */
async function runOverFamilies<C extends AnyCheckType>(
  run: Diagnostic<C>['run'],
  params: ParamsOf<C>,
  context: DiagnosticContext<C>,
): Promise<Outcome<C>> {
  if (!wantsBothFamilies(params.options)) return run(params, context);
  const shown: Partial<Record<Family, object>> = {};
  const over = async (family: Family): Promise<Outcome<C>> => {
    const emitPartial = (fields: PartialFields<C>): void => {
      shown[family] = fields;
      context.emitPartial(merged(shown[4] ?? {}, 6, shown[6] ?? {}));
    };
    const outcome = await run(paramsOverFamily(params as { options: object }, family) as ParamsOf<C>, {
      ...context,
      emitPartial,
    });
    emitPartial(partialOf(outcome));
    return outcome;
  };
  const [ipv4, ipv6] = await Promise.all([over(4), over(6)]);
  const isFirst = weightOf(ipv4) >= weightOf(ipv6);
  return (isFirst ? merged(ipv4, 6, ipv6) : merged(ipv6, 4, ipv4)) as Outcome<C>;
}

/**
 * Weight of an outcome by what it says about the target: 3 if it works, 2 for a failure of the target or the network, 1
 * for one of the probe or the resolution, 0 if there was nothing to measure. The heavier outcome is the main one.
 */
function weightOf({ result, error }: Pick<Outcome<AnyCheckType>, 'result' | 'error'>): number {
  if (ABSENT.has(error?.code)) return 0;
  if (result === 'success') return 3;
  return result === 'error' || error?.source === 'probe' || error?.phase === 'resolve' ? 1 : 2;
}

function merged(first: object, family: Family, other: object): object {
  return { ...first, otherFamily: { family, ...other } };
}

/** The fields of an outcome that a partial result may have. */
function partialOf<C extends AnyCheckType>({
  result: _result,
  error: _error,
  ...fields
}: Outcome<C>): PartialFields<C> {
  return fields as unknown as PartialFields<C>;
}
