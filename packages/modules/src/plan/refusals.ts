import type { Refusal } from './module.ts';

/** Collects the options of one module that cannot be run. */
export interface Refusals {
  /**
   * @param owner decoded mapping that has the option
   * @param path of the mapping below the module, such as `http.tls_config`
   */
  readonly refuse: (owner: object, path: string, option: string, reason: string) => void;
  readonly list: readonly Refusal[];
}

export function collectRefusals(module: string, lineOf: (owner: object, key: string) => number): Refusals {
  const list: Refusal[] = [];
  return {
    list,
    refuse: (owner, path, option, reason) => {
      const full = path === '' ? option : `${path}.${option}`;
      list.push({ module, line: lineOf(owner, option), option: full, reason });
    },
  };
}

/** Refuses each option that is set to anything but its zero value. */
export function refuseSet(
  refusals: Refusals,
  owner: object | undefined,
  path: string,
  reasons: Readonly<Record<string, string>>,
): void {
  if (owner === undefined) return;
  for (const [option, reason] of Object.entries(reasons)) {
    if (isSet((owner as Readonly<Record<string, unknown>>)[option])) refusals.refuse(owner, path, option, reason);
  }
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === '' || value === false || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return typeof value !== 'object' || value === null || Object.values(value).some(isSet);
}
