import type { Certificate } from './certificate.ts';
import { daysLeft, displayName } from './describe-certificate.ts';
import { buildPath, type IsEnd, type Path } from './path.ts';
import type { Tls } from '../schema.ts';
import type { TrustAnchors } from './trust-store.ts';

type IssuerEnd = NonNullable<Tls['issuerEnds']>;

/** Limit of the renewals that are followed. */
const MAX_RENEWALS = 8;

/**
 * The certificate above the leaf whose expiry ends the validity of the chain before that of the leaf; undefined without
 * one, and for a chain that is not valid now. A certificate does not count if its renewal was sent too or is trusted.
 * Without a trusted root the highest certificates that were sent count as trusted: clients of a private authority do
 * trust them or one above.
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
  const isEnd = path.isAnchored ? undefined : highestOf(sent);
  let current = isEnd === undefined ? path : buildPath(sent, anchors, nowMs, isEnd);
  for (let renewals = 0; renewals < MAX_RENEWALS; renewals += 1) {
    if (!current.isSound) return undefined;
    const first = current.certificates.slice(1).reduce<Certificate | undefined>(sooner, undefined);
    if (first === undefined || !(endOf(first) < ownEndMs)) return undefined;
    const next = buildPath(sent, anchors, endOf(first) + 1, isEnd);
    const validUntil = first.parsed.validToDate.toISOString();
    if (!next.isSound) return { name: displayName(first), validUntil, daysLeft: daysLeft(first, nowMs)! };
    current = next;
  }
  return undefined;
}

/**
 * @returns true for a certificate above the server's own that names itself as its issuer, or whose issuer was not sent
 */
function highestOf(sent: readonly Certificate[]): IsEnd {
  const highest = sent
    .slice(1)
    .filter((one) => one.subject === one.issuer || !sent.some(({ subject }) => subject === one.issuer));
  return ({ fingerprint }) => highest.some((one) => one.fingerprint === fingerprint);
}

function sooner(first: Certificate | undefined, other: Certificate): Certificate {
  return first !== undefined && endOf(first) <= endOf(other) ? first : other;
}

function endOf({ parsed }: Certificate): number {
  return parsed.validToDate.getTime();
}
