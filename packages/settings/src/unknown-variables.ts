import type { Settings } from './settings.ts';

/** A variable that no setting has, with the setting that was probably meant. */
export interface UnknownVariable {
  readonly variable: string;
  readonly setting: string;
}

/** Variables of other programs, and of our images, whose names are close to a setting. */
const OTHERS: ReadonlySet<string> = new Set(['HTTP_PROXY', 'GO_PROXY', 'LOGLEVEL', 'REDIS_ACL_FILE', 'REDIS_URI']);
/** With two errors in fewer than twelve letters, `REDIS_DB` would be a mistyped `REDIS_CA`. */
const LETTERS_PER_ERROR = 6;

/**
 * Finds variables that are mistyped names of settings which are not set. Skips settings of one word, because too many
 * names are similar to them. Values are left out: they may be secret.
 *
 * @param nearest the known word closest to a mistyped one; undefined if none is close
 */
export function unknownVariables(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  nearest: (written: string, known: readonly string[], lettersPerError: number) => string | undefined,
): readonly UnknownVariable[] {
  const names = Object.values(settings).map(({ env }) => env);
  const unset = names.filter((name) => name.includes('_') && !environment[name]);
  return Object.entries(environment).flatMap(([variable, value]) => {
    if (!value || names.includes(variable) || OTHERS.has(variable) || !/^[A-Z\d_]+$/.test(variable)) return [];
    const setting = nearest(variable, unset, LETTERS_PER_ERROR);
    return setting === undefined ? [] : [{ variable, setting }];
  });
}

/** The message of an error, with the variables that may be the reason for it. */
export function withUnknownVariables(message: string, unknown: readonly UnknownVariable[]): string {
  const lines = unknown.map(({ variable, setting }) => `  ${variable} is no setting; ${setting} was probably meant`);
  return [message, ...lines].join('\n');
}
