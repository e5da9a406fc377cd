import type { Deviates } from '../deviations.ts';

export interface StatusLine {
  readonly statusCode: number;
  readonly statusText: string;
  readonly httpVersion: string;
}

/** Maximum number of bytes before the status line that are passed over. */
export const MAX_PREFIX = 4;

/** True if these first bytes can begin a status line, also after up to `MAX_PREFIX` other bytes. */
export function canBeStatusLine(start: string): boolean {
  const upper = start.toUpperCase();
  for (let at = 0; at <= MAX_PREFIX; at += 1) {
    const name = upper.slice(at, at + NAME.length);
    if (NAME.startsWith(name)) return true;
  }
  return false;
}

/** True if these bytes contain `HTTP` in any case of letters, or are the beginning of it; also for no bytes. */
export function isStatusLineBegun(start: string): boolean {
  const upper = start.trim().toUpperCase();
  return upper.includes(NAME) || NAME.startsWith(upper);
}

/** Reads a status line (RFC 9112 section 4) leniently; undefined without `HTTP` and a status of three digits. */
export function readStatusLine(line: string, deviates: Deviates): StatusLine | undefined {
  const read = STATUS_LINE.exec(line);
  if (read === null) return undefined;
  const [, prefix, name, version, space, code, gap, reason = ''] = read;
  if (prefix !== '') deviates('status_prefix');
  if (name !== NAME) deviates('status_name_case');
  if (version === undefined || !/^1\.\d$/.test(version)) deviates('status_version');
  // A status line without a reason phrase still ends with a space.
  if (space !== ' ' || gap !== ' ') deviates('status_spacing');
  if (CONTROL.test(reason)) deviates('reason_control_character');
  return { statusCode: Number(code), statusText: reason, httpVersion: version ?? '1.0' };
}

/**
 * Adds a header line to the list of alternating names and values, or a line that begins with a blank (a fold) to the
 * last value. A line without a name or colon is left out, and a fold before any header.
 *
 * @returns false for a line with NUL (RFC 9110 section 5.5)
 */
export function addHeaderLine(rawHeaders: string[], text: string, deviates: Deviates): boolean {
  if (text.includes('\0')) return false;
  if (text.includes('\r')) deviates('bare_cr');
  const line = text.replaceAll('\r', ' ');
  const value = trim(line.slice(line.indexOf(':') + 1));
  if (/^[ \t]/.test(line)) {
    if (rawHeaders.length === 0) deviates('space_before_header');
    else continueHeader(rawHeaders, trim(line), deviates);
    return true;
  }
  const name = line.slice(0, Math.max(0, line.indexOf(':')));
  if (!line.includes(':')) deviates('header_without_colon');
  else if (trim(name) === '') deviates('header_name_empty');
  else {
    if (trim(name) !== name) deviates('space_before_colon');
    if (!TOKEN.test(trim(name))) deviates('header_name_invalid');
    if (CONTROL.test(value)) deviates('header_control_character');
    rawHeaders.push(trim(name), value);
  }
  return true;
}

/** Adds a folded line to the header before it, with a space in the place of the fold (RFC 9112 section 5.2). */
function continueHeader(rawHeaders: string[], more: string, deviates: Deviates): void {
  deviates('line_folding');
  if (CONTROL.test(more)) deviates('header_control_character');
  const last = rawHeaders.length - 1;
  rawHeaders[last] = `${rawHeaders[last]} ${more}`.trim();
}

function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

const NAME = 'HTTP';
const STATUS_LINE = /^(.{0,4}?)(HTTP)(?:\/(\d{1,3}(?:\.\d{1,3})?))?([ \t]+)(\d{3})(?:([ \t])(.*))?$/is;
/** The name of a header is a token (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
