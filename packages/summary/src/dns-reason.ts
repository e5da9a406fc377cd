import { classifiedAnswer, filterOf } from './dns-answer.ts';
import { causeOf, staleText } from './extended-errors.ts';
import type { SparseResultOf } from './probe-result.ts';
import { safeText } from './words.ts';

type Dns = SparseResultOf<'dns'>;

/** Reason why the name does not resolve; undefined without one, or if the failure code is sufficient. */
export function dnsReason(result: Dns): string | undefined {
  const answer = classifiedAnswer(result);
  const { error } = result;
  if (answer === undefined) return error?.phase === 'resolve' ? unfound(result) : undefined;
  const alias = answer.canonicalName === null ? undefined : safeText(answer.canonicalName, 120);
  switch (answer.kind) {
    case 'referral':
      return `the server referred to ${zoneText(answer.referral)} and did not answer`;
    case 'lame':
      return result.rcode === 'NXDOMAIN'
        ? 'the server said NXDOMAIN with nothing that proves it'
        : 'the server sent neither records nor a proof that there are none';
    case 'filtered':
      return `the resolver filtered the answer (${filterOf(result) ?? 'RFC 8914'})`;
    case 'truncated':
      return error?.code === 'dns_no_answer'
        ? 'the answer was cut off (TC)'
        : 'the answer over UDP of the resolver was cut off (TC), and TCP failed';
    case 'foreign':
      return 'the answer held only records that were not asked for';
    case 'loop':
      return 'its aliases lead in a circle';
    case 'nxdomain':
      return missingReason(result, alias);
    case 'error':
      return errorReason(result);
    case 'answer':
    case 'alias':
    case 'nodata':
    case 'malformed':
    default:
      return undefined;
  }
}

function missingReason(result: Dns, alias: string | undefined): string | undefined {
  const stale = staleText(result);
  const expired = stale === undefined ? '' : `, by an expired answer (${stale})`;
  if (alias !== undefined) return `it is an alias of ${alias}, which does not exist${expired}`;
  if (stale !== undefined) return `the name does not exist${expired}`;
  // Filters and captive portals may answer NXDOMAIN without an SOA for existing names.
  return result.authority?.some(({ type }) => type === 'SOA') === false
    ? 'the answer says that the name does not exist, without the SOA that proves it'
    : undefined;
}

function errorReason(result: Dns): string | undefined {
  const cause = causeOf(result);
  if (result.dnssec?.verdict === 'validation_failed')
    return `the answer fails the validation of DNSSEC${cause === undefined ? '' : ` (${cause})`}`;
  const isServfail = cause !== undefined && result.error?.code === 'dns_servfail';
  return isServfail ? `the resolver could not answer (SERVFAIL, ${cause})` : undefined;
}

function zoneText(zone: string | null): string {
  return zone === null || zone === '.' ? 'the root' : safeText(zone, 120);
}

/**
 * The reason if a dns check did not find a server to ask; undefined for a fault of the probe, and for other types,
 * whose results have no record type.
 */
function unfound(result: Dns): string | undefined {
  const { recordType, trace, error } = result;
  if (error?.code === 'target_refused_by_policy') return `the policy of the probe refuses ${refusedPart(result)}`;
  if (recordType === undefined || error?.source === 'probe') return undefined;
  return trace === undefined
    ? 'the address of the resolver could not be found'
    : 'no address of a name server of the zone could be found';
}

/** What a policy refused after names were resolved: a dns check resolves those of servers only, never its target. */
export function refusedPart({ recordType, trace, error }: Dns): string {
  if (recordType === undefined || error?.phase !== 'resolve') return 'the target';
  return trace === undefined ? 'the resolver' : 'a name server of the zone';
}
