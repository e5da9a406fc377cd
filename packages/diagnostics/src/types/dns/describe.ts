import { answeringRecords } from '../../shared/answering-records.ts';
import type { DescribedResult, Description } from '../../shared/description.ts';
import { count, listed, ms, told } from '../../shared/result-text.ts';
import type { dns } from './contract.ts';

export const description: Description<typeof dns> = {
  line: ({ rcode, answerKind, queryName, canonicalName, referral, answers, truncated, rt, resolver }) => [
    told(rcode),
    plainKinds.has(answerKind) ? undefined : told(answerKind),
    told(referral, (zone) => `referred to ${zone === '.' ? 'the root' : zone}`),
    told(canonicalName, (name) => `alias of ${name}`),
    told(answers, (records) => {
      const own = answeringRecords({ queryName, canonicalName, answers: records });
      return `${truncated === true && own.length > 0 ? 'at least ' : ''}${answersText(records, own)}`;
    }),
    told(rt, ms),
    told(resolver, (name) => (rcode === undefined ? `resolver ${name}` : `from ${name}`)),
  ],
  details: ({ answers = [], authority = [], answerKind, formatError, dnssec }) => [
    ...answers.map(recordLine),
    ...(answerKind === 'referral' ? authority : []).map(recordLine),
    ...listed(formatError, (breach) => `malformed: ${breach}`),
    ...listed(dnssec?.verdict, (verdict) => `DNSSEC: ${verdict}`),
  ],
};

/** Answer kinds that the rcode or another part of the line already shows. */
const plainKinds: ReadonlySet<string | undefined> = new Set(['answer', 'referral', 'error', 'nxdomain']);

type DnsRecord = NonNullable<DescribedResult<typeof dns>['answers']>[number];

function answersText(all: readonly DnsRecord[], own: readonly DnsRecord[]): string {
  const others = all.length - own.length;
  const text = count(own.length, 'answer');
  return others === 0
    ? text
    : `${text}, ${others === 1 ? 'one record of another name' : `${others} records of other names`}`;
}

function recordLine({ name, ttl, type, data }: DnsRecord): string {
  return `${name}  ${ttl}  ${type}  ${data}`;
}
