import { escapeText, roundMs, type ResultFieldsOf } from '@vantage/contract';

import type { DiagnosticContext } from '../diagnostic.ts';
import type { Edns } from './codec/edns.ts';
import type { Message } from './codec/message.ts';
import type { dns, DnsTransport } from './contract.ts';
import { extendedErrorName, rcodeName } from './rcodes.ts';
import { showSections, type RecordBudget } from './records.ts';
import { resolverText } from './resolver.ts';
import type { Answer, PreparedQuery } from './transport/exchange.ts';

type Fields = ResultFieldsOf<typeof dns>;
type AnswerFields = Fields & Required<Pick<Fields, 'answers' | 'authority' | 'additional'>>;

/** The usual port of each transport (RFC 1035, RFC 7858, RFC 8484). */
export const usualPorts: Readonly<Record<DnsTransport, number>> = { udp: 53, tcp: 53, tls: 853, https: 443 };

const MAX_EXTENDED_ERRORS = 4;
const MAX_NSID_BYTES = 256;

/** What a result shows of an answer. */
export function answerFields(
  answer: Answer,
  validationFailed: boolean,
  prepared: PreparedQuery,
  context: Pick<DiagnosticContext, 'isPrivateAddress' | 'showPrivateAddresses' | 'resolvers'>,
  budget: RecordBudget,
): AnswerFields {
  const { message, transport } = answer;
  return {
    rcode: rcodeName(message.rcode),
    flags: [...message.flags],
    ...showSections(message, budget),
    resolver: resolverField(answer, context),
    transport,
    size: answer.bytes,
    timings: {
      connect: answer.connectMs === null ? null : roundMs(answer.connectMs),
      tls: answer.tlsMs === null ? null : roundMs(answer.tlsMs),
      query: roundMs(answer.queryMs),
    },
    edns: message.edns === null ? null : ednsField(message.edns),
    dnssec: { ad: message.flags.includes('ad'), verdict: verdictOf(message, validationFailed, prepared) },
  };
}

/** The address of the probe's own resolver tells of the network around the probe. */
function resolverField(
  { server, transport }: Answer,
  context: Pick<DiagnosticContext, 'isPrivateAddress' | 'showPrivateAddresses'>,
): string | null {
  const { address } = server.target;
  if (context.isPrivateAddress(address) && !context.showPrivateAddresses) return null;
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

function verdictOf(
  { rcode, flags }: Message,
  validationFailed: boolean,
  { query }: PreparedQuery,
): NonNullable<Fields['dnssec']>['verdict'] {
  if (validationFailed) return 'validation_failed';
  const answered = rcode === 0 || rcode === 3;
  // Without recursion or with validation switched off nobody was asked for a verdict.
  if (!answered || query.checkingDisabled || !query.recursionDesired) return 'unknown';
  return flags.includes('ad') ? 'validated' : 'not_validated';
}
