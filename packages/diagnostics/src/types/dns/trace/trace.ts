import type { AnswerKind } from '@vantage/contract/dns-message';
import type { Failure, Family, Target } from '@vantage/contract';

import type { DiagnosticContext } from '../../../diagnostic.ts';
import { timedOut } from '../../../shared/classify-error.ts';
import { createTrustStore } from '../../../tls/certificate/trust-store.ts';
import { classifyMessage } from '../answer-fields.ts';
import { queryServer, type ResolverOutcome, type QueryOptions } from '../query-server.ts';
import type { dns } from '../contract.ts';
import { answerFailure } from '../outcome.ts';
import { newRecordBudget, type RecordBudget } from '../records.ts';
import { resolverNameFailure } from '../resolvers.ts';
import { badResponse, type Answer, type PreparedQuery } from '../transport/query.ts';
import { rowOf, type Asking, type FailedStep, type Row, type Step } from './steps.ts';
import { inFamily, shuffled, zoneOf, type DelegatedServer, type Zone } from './zones.ts';

type Context = DiagnosticContext<typeof dns>;
export interface TraceStart {
  readonly servers: readonly DelegatedServer[];
  /** Port of every queried server. */
  readonly port: number;
}

export interface TracePath extends TraceStart {
  readonly transport: 'udp' | 'tcp';
  /** The only family to use; undefined for both. */
  readonly family?: Family | undefined;
  /** Time to wait for a server after each transmission over UDP. */
  readonly waitsMs: readonly number[];
}

export interface Traced extends ResolverOutcome {
  readonly validation: 'unconfirmed';
  /** Zone of the last queried server. */
  readonly zone: string;
  /** One row per server that was queried or not admitted, with as many records as the budget allows. */
  readonly rows: (budget: RecordBudget) => Row[];
}

/** Limit of the delegations: a longer series indicates broken zones, or an attempt to waste the probe's packets. */
const MAX_DELEGATIONS = 16;
/** Limit of servers queried per zone: 13, the number of servers of the root zone. */
const MAX_SERVERS_PER_ZONE = 13;
/** Number of servers per zone that get all transmissions (`waitsMs`); further servers get only the first. */
const PATIENT_SERVERS = 4;
const MAX_ROWS = 20;

/**
 * Queries the servers of each zone from the root down, one after the other until one refers to a zone below or gives
 * the final answer: at most `MAX_SERVERS_PER_ZONE` of a zone and `MAX_ROWS` in all. The target policy applies to each
 * server before a packet is sent, including glue addresses.
 */
export async function traceDns(
  prepared: PreparedQuery,
  path: TracePath,
  context: Context,
  signal: AbortSignal,
): Promise<Traced> {
  const steps: Step[] = [];
  const rows = (budget: RecordBudget): Row[] => steps.map((step) => rowOf(step, budget));
  let zone: Zone = { name: '.', servers: shuffled(path.servers) };
  const end = (answer: Answer | null, failure: Failure | null): Traced => {
    return { answer, failure, validation: 'unconfirmed', zone: zone.name, rows };
  };
  for (let delegations = 0; delegations < MAX_DELEGATIONS; delegations++) {
    let next: Zone | undefined;
    const failed: FailedStep[] = [];
    const servers = inFamily(zone.servers, path.family).slice(0, MAX_SERVERS_PER_ZONE);
    for (const [index, server] of servers.entries()) {
      if (signal.aborted || steps.length === MAX_ROWS) break;
      const waitsMs = index < PATIENT_SERVERS ? path.waitsMs : path.waitsMs.slice(0, 1);
      const streamMs = index === servers.length - 1 ? undefined : waitsMs.reduce((sum, ms) => sum + ms, 0);
      const step = await askServer(zone, server, { ...path, waitsMs, streamMs }, prepared, context, signal);
      steps.push(step);
      context.emitPartial({ trace: rows(newRecordBudget()) });
      if (step.kind === 'answer') return end(step.answer, null);
      if (step.kind === 'referral') {
        next = step.to;
        break;
      }
      failed.push(step);
    }
    if (next === undefined) {
      const { answer, failure } = mostTelling(failed) ?? { answer: null, failure: tookTooLong };
      return end(answer, failure);
    }
    zone = next;
  }
  return end(null, badResponse(`There are more than ${MAX_DELEGATIONS} delegations.`));
}

const tookTooLong = timedOut('request', 'The trace took too long.');

/**
 * The most informative failed step of a zone: the last server that answered, else the last that was queried, else the
 * last one.
 */
function mostTelling(steps: readonly FailedStep[]): FailedStep | undefined {
  return (
    steps.findLast(({ answer }) => answer !== null) ??
    steps.findLast(({ failure }) => failure.phase !== 'resolve') ??
    steps.at(-1)
  );
}

async function askServer(
  zone: Zone,
  server: DelegatedServer,
  { port, transport, waitsMs, streamMs, family }: TracePath & Pick<QueryOptions, 'streamMs'>,
  prepared: PreparedQuery,
  context: Context,
  signal: AbortSignal,
): Promise<Step> {
  const admitted = await admitServer(server, { port, family }, context, signal);
  if ('failure' in admitted) return { kind: 'failure', zone, server, target: null, answer: null, ...admitted };
  const { target } = admitted;
  const options = {
    transport,
    waitsMs,
    streamMs,
    trust: context.trust ?? createTrustStore([]),
    userAgent: context.attribution.userAgent,
    icmp: context,
    // Resolvers do so as well: the name resolves.
    yieldsEdns: true,
  } as const;
  const { answer, failure } = await queryServer({ target, port }, prepared, options, signal);
  const asking = { zone, server, target };
  if (answer === null)
    return { ...asking, kind: 'failure', answer, failure: ofServer(failure ?? timedOut('response')) };
  if (failure !== null) return { ...asking, kind: 'failure', answer, failure: ofServer(failure) };
  return nextStep(asking, answer, prepared);
}

/** A trace asks no resolver, but the transports are those of resolvers. */
function ofServer(failure: Failure): Failure {
  return { ...failure, message: failure.message.replace(/^The resolver\b/, 'The name server') };
}

/** Admits the first of at most two glue addresses that the policy allows; without glue, the name. */
async function admitServer(
  server: DelegatedServer,
  { port, family }: Pick<TracePath, 'port' | 'family'>,
  { admit }: Context,
  signal: AbortSignal,
): Promise<{ readonly target: Target } | { readonly failure: Failure }> {
  const hosts = server.addresses.length > 0 ? server.addresses : [server.name.replace(/\.$/, '')];
  let failure = timedOut('resolve', 'The name server was not resolved in time.');
  try {
    for (const host of hosts.slice(0, 2)) {
      const admission = await admit({ host, port, purpose: 'dns', family }, signal);
      if (admission.admitted) return { target: admission.target };
      failure = resolverNameFailure(admission.failure, 'name server', family);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { failure };
}

function nextStep(asking: Asking, answer: Answer, prepared: PreparedQuery): Step {
  const { message } = answer;
  const classified = classifyMessage(message, prepared, asking.zone.name);
  const { kind, referral } = classified;
  if (kind === 'referral' && referral !== null) {
    return { ...asking, kind: 'referral', answer, to: zoneOf(referral, message) };
  }
  if (lastKinds.has(kind)) return { ...asking, kind: 'answer', answer };
  const failure = answerFailure(classified, message.rcode, prepared.query);
  return { ...asking, kind: 'failure', answer, failure: failure ?? badResponse('The answer is not valid.') };
}

/** Kinds of answers after which no other server of the zone is queried. */
const lastKinds: ReadonlySet<AnswerKind> = new Set(['answer', 'alias', 'nodata', 'nxdomain', 'loop']);
