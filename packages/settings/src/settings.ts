import type { VariableKind } from './kinds.ts';

/** One environment variable of an app; also the source of the settings reference page. */
export interface Setting<T> {
  /** Name of the variable. */
  readonly env: string;
  readonly kind: VariableKind<unknown>;
  /** Effect of the setting, as the reference page shows it. */
  readonly description: string;
  /** Default text for an absent or empty variable; without it the value is undefined. */
  readonly default?: string;
  /** True if the app cannot start without it. */
  readonly required?: boolean;
  /** True if the faults of `readSettings` leave out the reason, which may repeat the value. */
  readonly secret?: boolean;
  /** Never present at run time; carries the type of the value. */
  readonly value?: T;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

export type SettingValues<S extends Settings> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never;
};

/** All faults of the environment, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

export function setting<T>(
  declared: Omit<Setting<T>, 'kind' | 'value'> & { readonly kind: VariableKind<T> } & (
      | { readonly default: string }
      | { readonly required: true }
    ),
): Setting<T>;
export function setting<T>(
  declared: Omit<Setting<T>, 'kind' | 'value'> & { readonly kind: VariableKind<T> },
): Setting<T | undefined>;
export function setting<T>(declared: Setting<T>): Setting<T> {
  return declared;
}

/** @throws SettingsError with all faults */
export function readSettings<S extends Settings>(
  settings: S,
  environment: Readonly<Record<string, string | undefined>>,
): SettingValues<S> {
  const faults: string[] = [];
  const values = Object.entries(settings).map(([name, declared]) => {
    const given = environment[declared.env];
    const text = given === undefined || given === '' ? declared.default : given;
    if (text === undefined) {
      if (declared.required === true) faults.push(`${declared.env} is required: ${declared.description}`);
      return [name, undefined];
    }
    try {
      return [name, declared.kind.parse(text)];
    } catch (error) {
      const reason = Error.isError(error) ? error.message : 'cannot be read';
      faults.push(
        declared.secret === true
          ? `${declared.env} cannot be read; allowed: ${declared.kind.name}`
          : `${declared.env} ${reason}`,
      );
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw new SettingsError(faults);
  return Object.fromEntries(values) as SettingValues<S>;
}
