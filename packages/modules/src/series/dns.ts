import { recordSections, type DnsModule, type RecordSection } from '../plan/module.ts';
import { addressSeries } from './address.ts';
import { gauge, phases, type Sample } from './families.ts';
import { reading, type Reading, type SparseResultOf } from './result.ts';
import { recordFault } from './rules.ts';

type Dns = SparseResultOf<'dns'>;

export function dnsReading(module: DnsModule, result: Dns): Reading {
  const { rcode, formatError, error } = result;
  if (rcode === undefined) return reading([error?.message ?? 'No answer came in time.']);
  return reading([
    typeof formatError === 'string' && `The answer is malformed: ${formatError}.`,
    !module.validRcodes.includes(rcode) && `The rcode ${rcode} is none of ${module.validRcodes.join(', ')}.`,
    ...recordSections.map((section) => sectionFault(module, result, section)),
  ]);
}

function sectionFault({ recordRules }: DnsModule, result: Dns, section: RecordSection): string | undefined {
  const rules = recordRules[section];
  const isRuled = Object.values(rules).some((expressions) => expressions.length > 0);
  if (!isRuled) return undefined;
  // A complete answer also counts as truncated if it has more records than a result shows.
  if (result.truncated === true) return `The answer is too large to compare its ${section} section.`;
  return recordFault(rules, recordsOf(result, section), section);
}

/** Formats records as blackbox_exporter does. */
function recordsOf({ answers = [], authority = [], additional = [] }: Dns, section: RecordSection): readonly string[] {
  const records = { answer: answers, authority, additional }[section];
  return records.map(({ name, ttl, type, data }) => [name, ttl, 'IN', type, data].join('\t'));
}

export function dnsSeries(module: DnsModule, result: Dns, resolveMs: number | undefined): readonly Sample[] {
  const { rcode, answers = [], authority = [], additional = [], timings } = result;
  const soa = answers.findLast(({ type }) => type === 'SOA');
  const isSoaQuery = module.queryType === 'SOA' && rcode !== undefined;
  return [
    ...addressSeries(serverOf(result), resolveMs),
    ...phases('probe_dns_duration_seconds', {
      ...(resolveMs === undefined ? {} : { resolve: resolveMs }),
      connect: (timings?.connect ?? 0) + (timings?.tls ?? 0),
      request: timings?.query ?? 0,
    }),
    gauge('probe_dns_answer_rrs', answers.length),
    gauge('probe_dns_authority_rrs', authority.length),
    gauge('probe_dns_additional_rrs', additional.length),
    gauge('probe_dns_query_succeeded', rcode === undefined ? 0 : 1),
    // The serial is the third field of the record's data (RFC 1035 section 3.3.13).
    ...(isSoaQuery ? [gauge('probe_dns_serial', Number(soa?.data.split(' ')[2] ?? 0))] : []),
  ];
}

/** The address of the server that answered, without its port; undefined if the result does not give it. */
function serverOf({ resolver }: Dns): string | undefined {
  if (typeof resolver !== 'string') return undefined;
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\]:\d+|([\d.]+):\d+)$/.exec(resolver) ?? [];
  return bracketed ?? dotted ?? resolver;
}
