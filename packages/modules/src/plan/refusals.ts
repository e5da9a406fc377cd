import type { ModuleRefusal } from './module.ts';

/** Reads a file that a module names, as text. Throws if it cannot be read. */
export type ReadText = (path: string) => string;

/** Collects the options of one module that prevent it from being run. */
export interface Refusals {
  /**
   * @param owner decoded mapping that has the option
   * @param path of the mapping below the module, such as `http.tls_config`
   */
  readonly refuse: (owner: object, path: string, option: string, reason: string) => void;
  /** Content of the file that an option names; undefined if it names none, or if it is refused. */
  readonly textOf: (owner: object | undefined, path: string, option: string) => string | undefined;
  readonly list: readonly ModuleRefusal[];
}

export function collectRefusals(
  module: string,
  lineOf: (owner: object, key: string) => number,
  readText: ReadText,
): Refusals {
  const list: ModuleRefusal[] = [];
  const refuse: Refusals['refuse'] = (owner, path, option, reason) => {
    const full = path === '' ? option : `${path}.${option}`;
    list.push({ module, line: lineOf(owner, option), option: full, reason });
  };
  return {
    list,
    refuse,
    textOf: (owner, path, option) => {
      const file = (owner as Readonly<Record<string, unknown>> | undefined)?.[option];
      if (owner === undefined || typeof file !== 'string' || file === '') return undefined;
      try {
        return readText(file);
      } catch (error) {
        refuse(owner, path, option, Error.isError(error) ? error.message : String(error));
        return undefined;
      }
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
