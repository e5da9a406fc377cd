import { linkSignal } from '@vantage/timers';

import type { IcmpContext } from '../../sockets/icmp/icmp-watch.ts';
import type { TrustStore } from '../../tls/certificate/trust-store.ts';
import type { DnsTransport } from './resolver.ts';
import { queryHttps } from './transport/https.ts';
import {
  prepareQuery,
  type Answer,
  type QueryOutcome,
  type NameServer,
  type PreparedQuery,
} from './transport/query.ts';
import { queryTcp, queryTls } from './transport/stream.ts';
import { queryUdp } from './transport/udp.ts';

export interface QueryOptions {
  readonly transport: DnsTransport;
  /** Time to wait after each UDP transmission; there are as many transmissions as waits. */
  readonly waitsMs: readonly number[];
  /** Time for each exchange over TCP, TLS or HTTPS, if another server can be queried instead. */
  readonly streamMs?: number | undefined;
  readonly trust: TrustStore;
  readonly userAgent: string;
  /** Repeats a query without EDNS even if the client requested EDNS. */
  readonly yieldsEdns?: boolean;
  /** Reads the ICMP errors that the kernel does not report to a UDP socket. */
  readonly icmp: IcmpContext;
}

/** An answer, or why there is none; both if the answer is malformed, or if TCP failed after a truncated one. */
export interface ResolverOutcome {
  readonly answer: Answer | null;
  readonly failure: QueryOutcome['failure'];
  /** Datagrams over UDP that do not answer the query. */
  readonly mismatched?: number;
}

const FORMERR = 1;
const NOTIMP = 4;

/**
 * Sends a query to one server: over UDP, then TCP if the answer is truncated, or over the given transport. If the
 * server does not understand EDNS, the query is repeated without it (RFC 6891 section 7), unless the client requested
 * EDNS of this server.
 */
export async function queryServer(
  server: NameServer,
  prepared: PreparedQuery,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<ResolverOutcome> {
  const asked = await queryOnce(server, prepared, options, signal);
  const { edns } = prepared.query;
  if (asked.answer === null || edns === null) return asked;
  if ((edns.dnssecOk || edns.nsid) && options.yieldsEdns !== true) return asked;
  const { rcode, edns: answeredEdns } = asked.answer.message;
  const knowsNoEdns = (rcode === FORMERR || rcode === NOTIMP) && answeredEdns === null;
  if (!knowsNoEdns) return asked;
  const plain = await queryOnce(server, prepareQuery({ ...prepared.query, edns: null }), options, signal);
  return plain.answer === null ? asked : plain;
}

async function queryOnce(
  server: NameServer,
  prepared: PreparedQuery,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<ResolverOutcome> {
  const { transport } = options;
  if (transport !== 'udp') return queryStream(transport, server, prepared, options, signal);
  const asked = await queryUdp(server, prepared, options, signal);
  if (!asked.truncated) return asked;
  const whole = await queryStream('tcp', server, prepared, options, signal);
  if (whole.answer !== null) return whole;
  // If TCP fails, the truncated answer is kept.
  const message = `The answer over UDP was cut off (TC), and TCP failed. ${whole.failure.message}`;
  return { answer: asked.answer, failure: { ...whole.failure, message } };
}

async function queryStream(
  transport: Exclude<DnsTransport, 'udp'>,
  server: NameServer,
  prepared: PreparedQuery,
  { streamMs, trust, userAgent }: QueryOptions,
  signal: AbortSignal,
): Promise<QueryOutcome> {
  const { signal: bounded, release } = linkSignal(signal, streamMs);
  try {
    if (transport === 'tcp') return await queryTcp(server, prepared, bounded);
    if (transport === 'tls') return await queryTls(server, prepared, trust, bounded);
    return await queryHttps(server, prepared, trust, userAgent, bounded);
  } finally {
    release();
  }
}
