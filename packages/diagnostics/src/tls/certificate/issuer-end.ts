import type { Certificate } from './certificate.ts';
import { daysLeft, shownName } from './describe-certificate.ts';
import { buildPath, type Path } from './path.ts';
import type { Tls } from '../schema.ts';
import type { TrustAnchors } from './trust-store.ts';

type IssuerEnd = NonNullable<Tls['issuerEnds']>;

/** A server sends a few certificates of one name at most; more renewals are not followed. */
const MAX_RENEWALS = 8;

/**
 * The certificate above a server's own with whose end the validity of the chain ends, if that is before the end of the
 * own one. A renewed certificate does not count if its successor was sent too or is trusted: programs then use the
 * successor.
 *
 * @param path the present one
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
