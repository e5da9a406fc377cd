import { JOB_QUEUE, redisKeys } from '@vantage/contract';

import { MAX_BODY_BYTES } from '../../../apps/coordinator/src/http/requests/read-json.ts';

/** An attack with the Redis login of an agent, on as many connections as its quota allows. */
export interface Attack {
  readonly name: string;
  /** One request, sent repeatedly. */
  readonly request: readonly (string | Readonly<{ bytes: number }>)[];
  /** True if the attacker does not read replies. */
  readonly isDeaf?: boolean;
  /** For attacks that coordinators end: the goal is the end, not the time before it. */
  readonly isFlood?: boolean;
  /** More than an agent's user may keep. */
  readonly connections?: number;
  /** Length of the list of active jobs before the attack, by default the longest that coordinators leave. */
  readonly activeJobs?: number;
  /** Size of the heartbeat that the attacker wrote before. */
  readonly heartbeatBytes?: number;
}

export const THIEF = 'thief';
/** Size of a job: the largest request that the API accepts. */
export const JOB_BYTES = MAX_BODY_BYTES;

const queue = `${redisKeys.queuePrefix(THIEF)}:${JOB_QUEUE}:`;
/** Slightly less than the largest value that Redis accepts. */
const LARGE = { bytes: 4.9 * 1_048_576 };
const repeated = (text: string, times: number): readonly string[] => Array.from({ length: times }, () => text);

export const attacks: readonly Attack[] = [
  { name: 'a job read again and again', request: ['HGETALL', `${queue}job`] },
  { name: 'replies left unread', isDeaf: true, request: ['HGETALL', `${queue}job`] },
  { name: 'the list of active jobs', request: ['LRANGE', `${queue}active`, '0', '-1'] },
  {
    name: 'the list of jobs that were never removed',
    activeJobs: 5_000,
    isFlood: true,
    request: ['LRANGE', `${queue}active`, '0', '-1'],
  },
  { name: 'a search for a job that is not there', request: ['LREM', `${queue}active`, '0', 'none'] },
  {
    name: 'jobs moved in a circle',
    request: ['BLMOVE', `${queue}active`, `${queue}active`, 'LEFT', 'RIGHT', '1'],
  },
  { name: 'waits for a job', request: ['BLMOVE', `${queue}wait`, `${queue}active`, 'LEFT', 'RIGHT', '0.01'] },
  { name: 'removal of 10,000 keys', request: ['UNLINK', ...repeated(`${queue}none`, 10_000)] },
  { name: 'the time', request: ['TIME'] },
  { name: 'a heartbeat of 5 MB', request: ['SET', redisKeys.heartbeat(THIEF), LARGE, 'PX', '15000'] },
  {
    name: 'a heartbeat of 16 kB in each reply',
    heartbeatBytes: 16_000,
    request: ['SET', redisKeys.heartbeat(THIEF), 'x', 'NX', 'GET'],
  },
  {
    name: 'a heartbeat of 64 kB in each reply',
    heartbeatBytes: 65_536,
    isFlood: true,
    request: ['SET', redisKeys.heartbeat(THIEF), 'x', 'NX', 'GET'],
  },
  {
    name: 'a heartbeat of 900 kB in each reply',
    heartbeatBytes: 900_000,
    isFlood: true,
    request: ['SET', redisKeys.heartbeat(THIEF), 'x', 'NX', 'GET'],
  },
  { name: 'a heartbeat that is removed', request: ['DEL', redisKeys.heartbeat(THIEF)] },
  { name: 'a login with a password of 900 kB', request: ['AUTH', 'none', { bytes: 900_000 }] },
  { name: 'the protocol changed to and fro', request: ['HELLO', '3'] },
  { name: 'a hint of 5 MB', request: ['PUBLISH', redisKeys.resultNotification(THIEF), LARGE] },
  { name: 'a script that coordinators loaded', request: ['EVALSHA', 'f'.repeat(40), '0'] },
  { name: 'results of 5 MB', request: ['XADD', redisKeys.results(THIEF), '*', 'data', LARGE] },
  { name: 'small results without end', request: ['XADD', redisKeys.results(THIEF), '*', 'a', 'b'] },
  { name: 'results of 100,000 fields', request: ['XADD', redisKeys.results(THIEF), '*', ...repeated('a', 200_000)] },
  { name: 'the time, on 12 connections', isFlood: true, connections: 12, request: ['TIME'] },
  { name: 'the time, on 200 connections', isFlood: true, connections: 200, request: ['TIME'] },
];

/** A request as Redis reads it (RESP2). */
export function encode(request: Attack['request']): Buffer {
  const parts = request.map((part) =>
    typeof part === 'string' ? Buffer.from(part) : Buffer.alloc(Math.floor(part.bytes), 'x'),
  );
  return Buffer.concat([
    Buffer.from(`*${parts.length}\r\n`),
    ...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]),
  ]);
}
