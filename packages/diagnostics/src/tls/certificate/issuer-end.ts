import type { Certificate } from './certificate.ts';
import { daysLeft, shownName } from './describe-certificate.ts';
import { buildPath, type Path } from './path.ts';
import type { Tls } from '../schema.ts';
import type { TrustAnchors } from './trust-store.ts';

type IssuerEnd = NonNullable<Tls['issuerEnds']>;

/** Limit of the renewals that are followed. */
const MAX_RENEWALS = 8;

/**
 * The certificate above a server's own whose expiry ends the validity of the chain, if that is before the expiry of the
 * server's own; undefined otherwise, and for a chain that is not sound now. A certificate does not count if its renewal
 * was sent too or is trusted.
 *
 * @param path the present path
 */
export function issuerEndOf(
  sent: readonly Certificate[],
  anchors: TrustAnchors,
  path: Path,
  nowMs: number,
): IssuerEnd | undefined {
  const ownEndMs = endOf(sent[0]!);
  let current = path;
  for (let renewals = 0; renewals < MAX_RENEWALS; renewals += 1) {
    if (!current.isSound) return undefined;
    const first = current.certificates.slice(1).reduce<Certificate | undefined>(sooner, undefined);
    if (first === undefined || !(endOf(first) < ownEndMs)) return undefined;
    const next = buildPath(sent, anchors, endOf(first) + 1);
    const validUntil = first.parsed.validToDate.toISOString();
    if (!next.isSound) return { name: shownName(first), validUntil, daysLeft: daysLeft(first, nowMs)! };
    current = next;
  }
  return undefined;
}

function sooner(first: Certificate | undefined, other: Certificate): Certificate {
  return first !== undefined && endOf(first) <= endOf(other) ? first : other;
}

function endOf({ parsed }: Certificate): number {
  return parsed.validToDate.getTime();
}
