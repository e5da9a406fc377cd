import { nearestWord } from '@vantage/contract';

/**
 * Describes an error of `parseArgs` in one line that names the option.
 *
 * @param known names of the options, without hyphens
 */
export function optionFault(error: unknown, known: readonly string[]): string {
  const text = Error.isError(error) ? error.message : String(error);
  const given = /'(--?[^' =]+)/.exec(text)?.[1] ?? '';
  if (text.startsWith('Unknown option')) {
    const meant = nearestWord(given.replace(/^-+/, ''), known);
    const names = known.map((name) => `--${name}`).join(', ');
    return `unknown option ${given}; ${meant === undefined ? `expected one of ${names}` : `did you mean --${meant}?`}`;
  }
  // Skips a short name that comes first, as in `-h, --help`.
  const option = /--[\w-]+/.exec(text)?.[0] ?? given;
  if (text.includes('does not take an argument')) return `${option}: takes no value`;
  if (text.includes('argument missing')) return `${option}: needs a value`;
  if (text.includes('is ambiguous')) {
    return `${option}: needs a value; one that begins with a hyphen is written ${option}=-…`;
  }
  return text.split('\n', 1)[0] ?? text;
}

/** @param known the commands of the same program */
export function commandFault(word: string, known: readonly string[]): string {
  const meant = nearestWord(word, known);
  return `unknown command "${word.slice(0, 80)}"; ${meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`}`;
}
