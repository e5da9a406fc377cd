import {
  type AnswerKind,
  type ClassifiedAnswer,
  type Edns,
  type Message,
  classifyAnswer,
  extendedErrorName,
  rcodeName,
} from '@vantage/contract/dns-message';
import { escapeText, roundMs, type ResultFieldsOf } from '@vantage/contract';

import type { DiagnosticContext } from '../../diagnostic.ts';

import type { dns } from './contract.ts';
import type { DnsTransport } from './resolver.ts';

import { reportSections, type RecordBudget } from './records.ts';
import { resolverText } from './resolver.ts';
import type { Answer, NameServer, PreparedQuery } from './transport/query.ts';
import { canValidate, type Validation } from './validation.ts';

type Fields = ResultFieldsOf<typeof dns>;
type AnswerFields = Fields & Required<Pick<Fields, 'answers' | 'authority' | 'additional'>>;

/** The usual port of each transport (RFC 1035, RFC 7858, RFC 8484). */
export const usualPorts: Readonly<Record<DnsTransport, number>> = { udp: 53, tcp: 53, tls: 853, https: 443 };

const MAX_EXTENDED_ERRORS = 4;
const MAX_NSID_BYTES = 256;

/** Longest name: 255 octets, each at most four characters in presentation format. */
const MAX_NAME_LENGTH = 1024;

/**
 * Classifies an answer.
 *
 * @param zone of the queried server, if known
 */
export function classifyMessage(message: Message, { query }: PreparedQuery, zone?: string): ClassifiedAnswer {
  const { recursionDesired, recordType } = query;
  const { rcode, flags, answers, authority, edns } = message;
  const extendedErrors = edns?.extendedErrors.map(({ code }) => code);
  const queryName = nameInQuestion(message, query);
  const classified = classifyAnswer({
    queryName,
    recordType: recordType.name,
    recursionDesired,
    rcode: rcodeName(rcode),
    flags,
    answers,
    authority,
    zone,
    extendedErrors,
  });
  return message.formatError === null ? classified : { ...classified, kind: 'malformed' };
}

/** The queried name as repeated by the server, in presentation format; as sent if the server repeats none. */
export function nameInQuestion({ questions }: Message, query: PreparedQuery['query']): string {
  return questions[0]?.name ?? query.name;
}

/** The result fields of an answer. */
export function answerFields(
  answer: Answer,
  { kind, canonicalName, referral }: ClassifiedAnswer,
  validation: Validation,
  prepared: PreparedQuery,
  context: Pick<DiagnosticContext, 'isPrivateAddress' | 'showPrivateAddresses' | 'resolvers'>,
  budget: RecordBudget,
): AnswerFields {
  const { message, transport } = answer;
  const sections = reportSections(message, budget);
  return {
    rcode: rcodeName(message.rcode),
    answerKind: kind,
    canonicalName: canonicalName === null ? null : escapeText(canonicalName, MAX_NAME_LENGTH),
    referral: referral === null ? null : escapeText(referral, MAX_NAME_LENGTH),
    formatError: formatErrorOf(message),
    flags: [...message.flags],
    ...sections,
    truncated: sections.truncated || message.flags.includes('tc'),
    resolver: resolverField(answer.server, transport, context),
    transport,
    size: answer.bytes,
    timings: {
      connect: answer.connectMs === null ? null : roundMs(answer.connectMs),
      tls: answer.tlsMs === null ? null : roundMs(answer.tlsMs),
      query: roundMs(answer.queryMs),
    },
    edns: message.edns === null ? null : ednsField(message.edns),
    dnssec: { ad: message.flags.includes('ad'), verdict: verdictOf(answer, kind, validation, prepared) },
  };
}

/**
 * The resolver as text; null for a private address, unless these are shown, because it would reveal the network of the
 * probe.
 */
export function resolverField(
  server: NameServer,
  transport: DnsTransport,
  context: Pick<DiagnosticContext, 'isPrivateAddress' | 'showPrivateAddresses'>,
): string | null {
  const { address } = server.target;
  if (context.isPrivateAddress(address.replace(/%.*$/, '')) && !context.showPrivateAddresses) return null;
  return resolverText(address, server.port, usualPorts[transport]);
}

function ednsField(edns: Edns): NonNullable<Fields['edns']> {
  return {
    version: edns.version,
    udpSize: edns.udpBytes,
    dnssecOk: edns.dnssecOk,
    nsid: edns.nsid === null ? null : nsidField(edns.nsid.subarray(0, MAX_NSID_BYTES)),
    extendedErrors: edns.extendedErrors.slice(0, MAX_EXTENDED_ERRORS).map(({ code, text }) => ({
      code,
      name: extendedErrorName(code),
      text: escapeText(text),
    })),
  };
}

function nsidField(nsid: Uint8Array): NonNullable<NonNullable<Fields['edns']>['nsid']> {
  const octets = Buffer.from(nsid);
  return { hex: octets.toString('hex'), text: escapeText(octets.toString('latin1')) };
}

function formatErrorOf({ formatError, trailingBytes }: Message): string | null {
  if (formatError !== null) return formatError;
  return trailingBytes === 0
    ? null
    : `${trailingBytes} ${trailingBytes === 1 ? 'octet' : 'octets'} after the last record`;
}

/** The kinds of answers that a resolver can have validated. */
const validatable: ReadonlySet<AnswerKind> = new Set(['answer', 'alias', 'nodata', 'nxdomain']);

function verdictOf(
  answer: Answer,
  kind: AnswerKind,
  validation: Validation,
  { query }: PreparedQuery,
): NonNullable<Fields['dnssec']>['verdict'] {
  if (validation === 'failed') return 'validation_failed';
  if (validation === 'broken') return 'unknown';
  if (!canValidate(answer, query) || !validatable.has(kind)) return 'unknown';
  if (!answer.message.flags.includes('ad')) return 'not_validated';
  return validation === 'confirmed' ? 'validated' : 'unknown';
}
