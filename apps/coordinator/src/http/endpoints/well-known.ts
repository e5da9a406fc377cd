import type { Links } from '../links.ts';
import { HttpProblem } from '../problem.ts';
import { PROBING_PATH, SECURITY_PATH } from '../well-known-paths.ts';
import type { Endpoint } from './endpoint.ts';

/** Contacts of the operator, as URLs or mail addresses; undefined if not configured. */
export interface Contacts {
  readonly probing?: string | undefined;
  readonly security?: string | undefined;
}

const DAY_MS = 86_400_000;

/**
 * Days until a response expires. The file is generated at each request, so this only bounds copies; RFC 9116 recommends
 * less than a year.
 */
const VALID_DAYS = 30;

const DESCRIPTION =
  'Vantage measures targets that its callers name: ping, traceroute, TCP, UDP, DNS and HTTP, few packets each. ' +
  'How often a target is measured is limited over all callers. Ask the contact to leave a name or network out.';

/** Contacts for owners of measured targets and for reporters of vulnerabilities. */
export function wellKnown(links: Links, { probing, security }: Contacts): readonly Endpoint[] {
  return [
    file(PROBING_PATH, links, probing, [`Description: ${DESCRIPTION}`]),
    file(SECURITY_PATH, links, security, []),
  ];
}

function file(path: `/${string}`, links: Links, contact: string | undefined, more: readonly string[]): Endpoint {
  return {
    path,
    method: 'GET',
    answer: (_request, response) => {
      if (contact === undefined)
        throw new HttpProblem('not-found', 'The operator of the service has given no contact.');
      const lines = [
        ...canonical(links, path),
        `Contact: ${contactUri(contact)}`,
        `Expires: ${expiry(Date.now())}`,
        'Preferred-Languages: en',
        ...more,
      ];
      response
        .set({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600' })
        .send(`${lines.join('\n')}\n`);
    },
  };
}

/** The line `Canonical`, which requires https; well-known files are at the root of the origin (RFC 8615). */
function canonical({ publicUrl }: Links, path: string): readonly string[] {
  const { origin, protocol } = new URL(publicUrl);
  return protocol === 'https:' ? [`Canonical: ${origin}${path}`] : [];
}

function contactUri(contact: string): string {
  return /^(https|mailto):/i.test(contact) ? contact : `mailto:${contact}`;
}

/** Expiry of the file; constant within a day, so that copies are equal. */
function expiry(nowMs: number): string {
  const day = Math.floor(nowMs / DAY_MS) + VALID_DAYS;
  return new Date(day * DAY_MS).toISOString().replace('.000Z', 'Z');
}
