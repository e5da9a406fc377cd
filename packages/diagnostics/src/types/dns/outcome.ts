import {
  type ClassifiedAnswer,
  type DnsRecord,
  rcodeFailure,
  rcodeName,
  sameName,
} from '@vantage/contract/dns-message';
import { isIP } from 'node:net';

import { escapeText, roundMs, type Failure } from '@vantage/contract';

import { outcomeOf, timedOut } from '../../shared/classify-error.ts';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { answerFields, classifyMessage, nameInQuestion, resolverField } from './answer-fields.ts';
import type { ResolverOutcome } from './query-server.ts';

import type { dns } from './contract.ts';
import type { DnsTransport } from './resolver.ts';

import type { RecordBudget } from './records.ts';
import { badResponse, type NameServer, type PreparedQuery } from './transport/query.ts';
import type { Validation } from './validation.ts';

type Fields = Pick<Outcome<typeof dns>, 'recordType' | 'queryName' | 'resolver'>;

export interface Concluding extends ResolverOutcome {
  readonly validation: Validation;
  /** The zone of the queried server, if it is known. */
  readonly zone?: string | undefined;
  /** The resolver that this is about; undefined in a trace, or if none was queried. */
  readonly asked?: { readonly server: NameServer; readonly transport: DnsTransport } | undefined;
}

/** Builds the result from an answer, or its absence. */
export function concluded(
  { answer, failure, validation, zone, asked }: Concluding,
  prepared: PreparedQuery,
  context: DiagnosticContext<typeof dns>,
  budget: RecordBudget,
): Outcome<typeof dns> {
  const fields = questionFields(prepared);
  if (answer === null) {
    const resolver = asked === undefined ? {} : { resolver: resolverField(asked.server, asked.transport, context) };
    return ended(failure ?? timedOut('response'), { ...fields, ...resolver });
  }
  const classified = classifyMessage(answer.message, prepared, zone);
  const shown = answerFields(answer, classified, validation, prepared, context, budget);
  const error = failure ?? answerFailure(classified, answer.message.rcode, prepared.query);
  const message = validation === 'failed' ? 'The answer fails DNSSEC validation (SERVFAIL).' : error?.message;
  const owner = classified.canonicalName ?? nameInQuestion(answer.message, prepared.query);
  return {
    result: error === null ? 'success' : outcomeOf(error),
    rt: roundMs(answer.queryMs),
    resolvedIp: classified.kind === 'answer' ? firstAddress(answer.message.answers, owner) : null,
    error: error === null ? null : { ...error, message: message ?? error.message },
    ...fields,
    ...shown,
  };
}

export function ended(failure: Failure, fields: Fields): Outcome<typeof dns> {
  return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure, ...fields };
}

export function questionFields({ query }: PreparedQuery): Fields {
  return { recordType: query.recordType.name, queryName: query.name };
}

/** Records of other names are not addresses of this one (RFC 5452 section 6). */
function firstAddress(answers: readonly DnsRecord[], owner: string): string | null {
  return answers.find(({ name, data }) => sameName(name, owner) && isIP(data) !== 0)?.data ?? null;
}

const MAX_NAME_LENGTH = 300;

/**
 * Why an answer is no success; null for records, aliases, an empty answer for an existing name, and a referral to the
 * zone whose NS records were asked for.
 */
export function answerFailure(
  { kind, canonicalName, referral }: ClassifiedAnswer,
  rcode: number,
  question: { readonly name: string; readonly recordType: { readonly name: string } },
): Failure | null {
  const alias = canonicalName === null ? null : escapeText(canonicalName, MAX_NAME_LENGTH);
  switch (kind) {
    case 'nxdomain':
    case 'error':
      return rcodeFailure(rcode, alias);
    case 'referral': {
      const zone = referral ?? '.';
      // At a zone cut, the parent answers a query for NS by a referral.
      if (question.recordType.name === 'NS' && sameName(zone, question.name)) return null;
      const shown = zone === '.' ? 'the root' : escapeText(zone, MAX_NAME_LENGTH);
      return noAnswer(`The server referred to ${shown} and did not answer.`);
    }
    case 'lame':
      return noAnswer(
        rcode === 0
          ? 'The server answered NOERROR with neither records nor anything that proves that there are none.'
          : `The server answered ${rcodeName(rcode)} with nothing that proves it.`,
      );
    case 'filtered':
      return noAnswer(`The resolver answered ${rcodeName(rcode)}, and says that it filters the answer (RFC 8914).`);
    case 'truncated':
      return noAnswer('The answer is cut off (TC): what it holds may be a part of it.');
    case 'loop':
      return noAnswer(`The aliases lead in a circle, back to ${alias}`);
    case 'foreign':
      return badResponse('The answer holds records of other names or types alone.');
    case 'malformed':
      return badResponse('The answer is not a valid DNS message.');
    case 'answer':
    case 'alias':
    case 'nodata':
    default:
      return null;
  }
}

function noAnswer(message: string): Failure {
  return { code: 'dns_no_answer', phase: 'response', source: 'resolver', message };
}
