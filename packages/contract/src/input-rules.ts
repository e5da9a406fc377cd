import type { AnyCheckType, InputError, OtherTarget, ParamsOf } from './check-type.ts';

/** Fields by JSON pointer, such as `/port` and `/options/count`. */
export type FieldPaths = ReadonlySet<string>;

type AnyParams = ParamsOf<AnyCheckType>;

const none: FieldPaths = new Set();

/**
 * Applies the rules of a type that its schema cannot express.
 *
 * @param broken fields without a valid value: a rule that reads one of them is skipped
 */
export function ruleErrors<C extends AnyCheckType>(
  { inputRules = [] }: C,
  params: ParamsOf<NoInfer<C>>,
  broken: FieldPaths = none,
): readonly InputError[] {
  return inputRules.flatMap((rule) => withoutBroken(() => rule(guarded(params as AnyParams, broken)), []));
}

/** The further targets of a request; none if a field that names them is broken. */
export function otherTargetsOf<C extends AnyCheckType>(
  { otherTargets }: C,
  params: ParamsOf<NoInfer<C>>,
  broken: FieldPaths = none,
): readonly OtherTarget[] {
  return otherTargets === undefined ? [] : withoutBroken(() => otherTargets(guarded(params as AnyParams, broken)), []);
}

class BrokenFieldRead extends Error {}

function withoutBroken<T>(compute: () => T, otherwise: T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof BrokenFieldRead) return otherwise;
    throw error;
  }
}

/** The parameters, whose broken fields throw when they are read. */
function guarded<T extends object>(params: T, broken: FieldPaths, at = ''): T {
  if (broken.size === 0) return params;
  return new Proxy(params, {
    get: (target, name) => {
      const path = `${at}/${String(name)}`;
      if (broken.has(path)) throw new BrokenFieldRead(path);
      const value: unknown = Reflect.get(target, name);
      return path === '/options' ? guarded(value as object, broken, path) : value;
    },
  });
}
