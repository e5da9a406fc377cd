import { ruleErrors } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { regexpFault } from '../file/kinds.ts';
import type { RawDns } from '../file/shape.ts';
import { requiredFamily, refuseSourceAddress, tlsReasons } from './common.ts';
import type { DnsModule, RecordRules, RecordSection } from './module.ts';
import { refuseSet, type Refusals } from './refusals.ts';

export function planDns(raw: RawDns | undefined, refusals: Refusals): Omit<DnsModule, 'name' | 'line' | 'timeoutMs'> {
  const { query_name: queryName = '', query_type: queryType = 'ANY', query_class: queryClass = 'IN' } = raw ?? {};
  const owner = raw ?? {};
  refuseSourceAddress(raw, 'dns', refusals);
  if (queryName === '') refusals.refuse(owner, 'dns', 'query_name', 'is required');
  if (queryClass !== 'IN' && queryClass !== '') {
    refusals.refuse(owner, 'dns', 'query_class', 'probes ask for the class IN only');
  }
  const options = { transport: transportOf(raw, refusals), recursionDesired: raw?.recursion_desired ?? true };
  const params = { host: queryName, recordType: queryType, options: options as never };
  for (const { message } of ruleErrors(checkTypes.dns, params)) {
    refusals.refuse(owner, 'dns', 'query_type', message);
  }
  const family = requiredFamily(raw, 'dns', refusals);
  if (family !== undefined) {
    const reason = 'the family of a DNS server cannot be forced: give its address as the target';
    refusals.refuse(owner, 'dns', 'ip_protocol_fallback', reason);
  }
  const rulesOf = (section: RecordSection): RecordRules => recordRules(raw, section, refusals);
  const insecure = 'the certificate of a DNS server must be valid for it';
  refuseSet(refusals, raw?.tls_config, 'dns.tls_config', { ...tlsReasons, insecure_skip_verify: insecure });
  return {
    prober: 'dns',
    family,
    ...options,
    queryName,
    queryType,
    validRcodes: raw?.valid_rcodes ?? ['NOERROR'],
    recordRules: { answer: rulesOf('answer'), authority: rulesOf('authority'), additional: rulesOf('additional') },
  };
}

/** blackbox_exporter notices an invalid expression at the first scrape; here the module is refused. */
function recordRules(raw: RawDns | undefined, section: RecordSection, refusals: Refusals): RecordRules {
  const rules = raw?.[`validate_${section}_rrs`] ?? {};
  for (const [option, expressions] of Object.entries(rules)) {
    const fault = expressions.map(regexpFault).find((found) => found !== undefined);
    if (fault !== undefined) refusals.refuse(rules, `dns.validate_${section}_rrs`, option, fault);
  }
  return {
    failIfAnyMatches: rules.fail_if_matches_regexp ?? [],
    // blackbox_exporter fails if any record does not match, contrary to the name of the option.
    failUnlessAllMatch: rules.fail_if_all_match_regexp ?? [],
    failIfOneDiffers: rules.fail_if_not_matches_regexp ?? [],
    failIfNoneMatches: rules.fail_if_none_matches_regexp ?? [],
  };
}

function transportOf(raw: RawDns | undefined, refusals: Refusals): DnsModule['transport'] {
  const { transport_protocol: text = '', dns_over_tls: overTls = false } = raw ?? {};
  const protocol = text === '' ? 'udp' : text;
  if (protocol !== 'udp' && protocol !== 'tcp') {
    refusals.refuse(raw!, 'dns', 'transport_protocol', `"${text}" is none of udp and tcp`);
    return 'udp';
  }
  if (overTls && protocol !== 'tcp') refusals.refuse(raw!, 'dns', 'dns_over_tls', 'needs transport_protocol: tcp');
  return overTls ? 'tls' : protocol;
}
