import { escapeText, nearestWord } from '@vantage/contract';

/** The reason why an id names no probe, with the probe that was probably meant. */
export function unknownProbe(id: string, known: Iterable<string>): string {
  const nearest = nearestWord(id, [...known]);
  return `there is no probe "${escapeText(id, 80)}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}
