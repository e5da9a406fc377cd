import { escapeText } from '@vantage/contract';

/** What was thrown, as one bounded line. */
export function errorText(thrown: unknown): string {
  return escapeText(Error.isError(thrown) ? thrown.message : String(thrown), 300);
}
