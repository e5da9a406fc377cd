import { escapeText } from '@vantage/contract';

/** Converts a thrown value to one bounded line. */
export function errorText(thrown: unknown): string {
  return escapeText(Error.isError(thrown) ? thrown.message : String(thrown), 300);
}
