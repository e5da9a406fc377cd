import { setTimeout as sleep } from 'node:timers/promises';

import { createConformance } from '@vantage/coordinator';

import { addKey, PROBES, type FuzzBed } from './bed.ts';
import { HOSTILE_KEY, hostileString, hostileValue } from './hostile-values.ts';
import { createRandom, type Random } from './random.ts';
import { createRequests, type FuzzRequest } from './requests.ts';
import { send, type RawAnswer } from './send.ts';

export interface FuzzReport {
  readonly sent: Readonly<Record<FuzzRequest['kind'], number>>;
  readonly byStatus: ReadonlyMap<number, number>;
  /** Violations of the API's guarantees: request and response, as text. */
  readonly faults: readonly string[];
  /** Number of responses with a status of 500 or above, except 503. */
  readonly serverErrors: number;
  /** Responses with 503, as when the store is too slow on a busy machine. */
  readonly unavailable: number;
  readonly hangs: number;
  readonly longestMs: number;
  /** Lines that the coordinator logged as errors. */
  readonly logged: readonly string[];
}

export interface FuzzOptions {
  readonly seed: number;
  /** Called before each request; true ends the run. */
  readonly isDone: (sent: number) => boolean;
  readonly parallel?: number;
}

/**
 * Sends requests to a coordinator and compares every response with its OpenAPI document and the promises of the
 * service.
 */
export async function fuzz(bed: FuzzBed, options: FuzzOptions): Promise<FuzzReport> {
  const { coordinator, redisUrl, report } = bed;
  const document = (await (await fetch(`${coordinator.url}/openapi.json`)).json()) as Readonly<Record<string, unknown>>;
  const faultsOf = createConformance(document);
  const random = createRandom(options.seed);
  // A separate series for the results of agents, because responses arrive in any order.
  const agents = createRandom(options.seed + 1);
  const checkIds: string[] = [];
  const key = addKey(redisUrl, 'check,read,monitor');
  const isKeyKnown = async (): Promise<boolean> =>
    (await fetch(`${coordinator.url}/me`, { headers: { Authorization: `Bearer ${key}` } })).ok;
  while (!(await isKeyKnown())) await sleep(20);
  const next = createRequests(document, random, { checkIds, key });
  const sent = { valid: 0, 'nearly valid': 0, hostile: 0 };
  const byStatus = new Map<number, number>();
  const faults: string[] = [];
  let [count, serverErrors, unavailable, hangs, longestMs] = [0, 0, 0, 0, 0];

  const one = async (): Promise<void> => {
    const request = next();
    sent[request.kind] += 1;
    let answer: RawAnswer | undefined;
    try {
      answer = await send(coordinator.port, request);
    } catch (error) {
      hangs += 1;
      faults.push(describe(request, undefined, String(error)));
      return;
    }
    if (answer === undefined) {
      faults.push(describe(request, undefined, 'the connection was closed without an answer'));
      return;
    }
    byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
    longestMs = Math.max(longestMs, answer.milliseconds);
    if (answer.status === 503) unavailable += 1;
    else if (answer.status >= 500) serverErrors += 1;
    for (const fault of [...broken(request, answer, key), ...conformanceFaults(faultsOf, request, answer)]) {
      faults.push(describe(request, answer, fault));
    }
    const { checkId } = answer.status === 202 ? (JSON.parse(answer.body) as { checkId?: string }) : {};
    if (checkId === undefined) return;
    checkIds.push(checkId);
    if (checkIds.length > 200) checkIds.shift();
    for (const probe of PROBES) await report(probe, checkId, agents.chance(0.6) ? resultOf(agents) : undefined);
  };

  const worker = async (): Promise<void> => {
    while (!options.isDone(count)) {
      count += 1;
      await one();
    }
  };
  // Takes the jobs of monitors, which nothing else takes.
  const taking = setInterval(() => void bed.takeJobs().catch(() => undefined), 1_000);
  await Promise.all(Array.from({ length: options.parallel ?? 8 }, worker)).finally(() => clearInterval(taking));
  if (!coordinator.isAlive()) faults.push('the coordinator has ended');
  return { sent, byStatus, faults, serverErrors, unavailable, hangs, longestMs, logged: [...coordinator.errors] };
}

/** Paths and media types that other pages may embed. */
const shownElsewhere = [
  /^\/check\/[^/?]+\/badge\.svg(?:\?\S*)? image\/svg\+xml\b/,
  /^\/check\/[^/?]+\/card\.png(?:\?\S*)? image\/png\b/,
  /^\/c\/[^/?]+\/embed(?:\?\S*)? text\/html\b/,
];

/** Violations of the promises that the OpenAPI document does not contain. */
function broken({ method, path }: FuzzRequest, { status, headers, body }: RawAnswer, key: string): readonly string[] {
  const faults: string[] = [];
  const type = headers.get('Content-Type') ?? '';
  // Badge, card and embed report a missing check in their own format.
  const isShown = [404, 410].includes(status) && shownElsewhere.some((form) => form.test(`${path} ${type}`));
  if (status >= 500 && status !== 503) faults.push(`status ${status}`);
  if (status >= 400 && !isShown && !type.startsWith('application/problem+json')) faults.push(`an error as ${type}`);
  if (status >= 400 && !isShown && method !== 'HEAD' && body.length > 8_192)
    faults.push(`an error of ${body.length} bytes`);
  if (status >= 400 && /node_modules|\\n\s+at /.test(body)) faults.push('an error that tells of the inside');
  if (status >= 400 && [HOSTILE_KEY, key].some((text) => body.includes(text.slice(-20))))
    faults.push('the secret of a key');
  if (headers.has('X-Injected')) faults.push('a header that the request made');
  if (headers.has('X-Powered-By')) faults.push('a header that tells of the inside');
  const isText = !type.startsWith('image/png');
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  if (isText && /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(body))
    faults.push('a control character');
  return faults;
}

/**
 * Compares a response with the operation of its request or, if the request is not HTTP, with what is documented outside
 * of operations. Event streams are left out.
 */
function conformanceFaults(
  faultsOf: ReturnType<typeof createConformance>,
  { method, path, isStream, kind }: FuzzRequest,
  { status, headers, body }: RawAnswer,
): readonly string[] {
  if (isStream && status === 200) return [];
  // A request that is not HTTP is answered before routing.
  const isRead = kind !== 'hostile' || ![400, 405, 431].includes(status);
  const [target = ''] = path.split(/[\r\n]/, 1);
  const seen = isRead ? { method, path: target.trim() } : { method: 'GET', path: '/unread' };
  return faultsOf({ ...seen, status, headers, body });
}

/** A result of a simulated agent: mostly a valid failure, else hostile JSON or any hostile text. */
function resultOf(random: Random): string {
  if (random.chance(0.2)) return JSON.stringify(hostileValue(random));
  if (random.chance(0.1)) return hostileString(random);
  const now = new Date().toISOString();
  return JSON.stringify({
    result: 'failure',
    rt: null,
    resolvedIp: null,
    startedAt: now,
    finishedAt: now,
    error: { code: 'connection_refused', phase: 'connect', source: 'target', message: 'refused' },
  });
}

function describe({ kind, bytes }: FuzzRequest, answer: RawAnswer | undefined, fault: string): string {
  const came = answer === undefined ? '' : ` ← ${answer.status} ${answer.body.slice(0, 300)}`;
  return `${kind}: ${fault}: ${JSON.stringify(bytes.toString('latin1').slice(0, 400))}${came}`;
}
