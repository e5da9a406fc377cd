import type { Message } from './message.ts';
import { sameName } from './names.ts';
import type { DnsRecord } from './record.ts';

/** The opt-out flag of an NSEC3 record (RFC 5155 section 3.1.2.1). */
const OPT_OUT = 1;

/**
 * True if a resolver's answer about a name that no cache has shows that it reached a name server for it. A resolver may
 * also derive the answer from NSEC, NSEC3 and wildcard records in its cache (RFC 8198), or have the zone itself (AA). A
 * second later, cached records have a lower TTL than the one that was signed. Proofs with opt-out, and answers without
 * signatures, cannot be derived.
 */
export function isFromNameServer({ flags, answers, authority }: Message): boolean {
  if (flags.includes('aa')) return false;
  const records = [...answers, ...authority];
  const signatures = records.filter(({ type }) => type === 'RRSIG');
  if (signatures.length === 0 || records.some(isOptOut)) return true;
  // The TTL of a negative answer's SOA is lowered to its minimum (RFC 2308 section 3).
  const whole = records.filter(({ type }) => type !== 'RRSIG' && type !== 'SOA');
  return whole.some((record) => signatures.some((signature) => isUnaged(record, signature)));
}

function isOptOut({ type, data }: DnsRecord): boolean {
  return type === 'NSEC3' && (Number(data.split(' ')[1]) & OPT_OUT) !== 0;
}

/**
 * True if the signature covers the record and has its TTL: the data of a signature begins with the covered type,
 * algorithm, labels and original TTL (RFC 4034 section 3.2).
 */
function isUnaged({ name, type, ttl }: DnsRecord, signature: DnsRecord): boolean {
  const [covered, , , original] = signature.data.split(' ');
  return covered === type && ttl === Number(original) && sameName(signature.name, name);
}
