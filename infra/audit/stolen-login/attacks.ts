import { JOB_QUEUE, redisKeys } from '@vantage/contract';

import { MAX_BODY_BYTES } from '../../../apps/coordinator/src/http/requests/read-json.ts';

/** An attack with the Redis login of an agent. */
export interface Attack {
  readonly name: string;
  /** One request, sent repeatedly. */
  readonly request: readonly (string | Readonly<{ bytes: number }>)[];
  /** True if the attacker does not read replies. */
  readonly isDeaf?: boolean;
  /**
   * True for requests, or numbers of connections, beyond those of any agent: coordinators must end the attack. Others
   * may continue.
   */
  readonly isExcess?: boolean;
  /** Number of connections; by default as many as an agent's user may keep. */
  readonly connections?: number;
  /** Size of the heartbeat that the attacker wrote before. */
  readonly heartbeatBytes?: number;
}

/** Size of a job: the largest request that the API accepts. */
export const JOB_BYTES = MAX_BODY_BYTES;

/** Size of a value, slightly less than the largest that the Redis of a service accepts. */
const LARGE = { bytes: 5_100_000 };
const repeated = (text: string, times: number): readonly string[] => Array.from({ length: times }, () => text);

/** Requests that coordinators must detect even on one or two connections. */
function largerRequests(thief: string): readonly Pick<Attack, 'name' | 'request'>[] {
  const queue = queueOf(thief);
  return [
    { name: 'a million keys to delete', request: ['DEL', ...repeated(redisKeys.heartbeat(thief), 1_000_000)] },
    { name: 'a million keys to unlink', request: ['UNLINK', ...repeated(`${queue}n`, 1_000_000)] },
    { name: '100,000 keys to unlink', request: ['UNLINK', ...repeated(`${queue}n`, 100_000)] },
    {
      name: '20 keys of 5 MB behind 32 short ones',
      request: ['UNLINK', ...repeated(`${queue}n`, 32), ...repeated(`${queue}${'x'.repeat(LARGE.bytes - 100)}`, 20)],
    },
    { name: 'a password of 5 MB', request: ['AUTH', 'none', LARGE] },
    { name: 'a heartbeat of 5 MB', request: ['SET', redisKeys.heartbeat(thief), LARGE, 'PX', '15000'] },
    { name: 'results of 5 MB', request: ['XADD', redisKeys.results(thief), '*', 'data', LARGE] },
    {
      name: 'results of 500,000 fields',
      request: ['XADD', redisKeys.results(thief), '*', ...repeated('a', 1_000_000)],
    },
    { name: 'a notification of 5 MB', request: ['PUBLISH', redisKeys.resultNotification(thief), LARGE] },
  ];
}

/** The attacks that the audit runs with the login of this agent. */
export function attacksOf(thief: string): readonly Attack[] {
  const queue = queueOf(thief);
  const onFew = [1, 2].flatMap((connections) =>
    largerRequests(thief).map(({ name, request }) => {
      return { name: `${name}, on ${connections}`, connections, isExcess: true, request };
    }),
  );
  return [
    { name: 'a job read again and again', request: ['HGETALL', `${queue}job`] },
    { name: 'replies left unread', isDeaf: true, request: ['HGETALL', `${queue}job`] },
    { name: 'the list of active jobs', request: ['LRANGE', `${queue}active`, '0', '-1'] },
    { name: 'a search for a job that is not there', request: ['LREM', `${queue}active`, '0', 'none'] },
    {
      name: 'jobs moved in a circle',
      request: ['BLMOVE', `${queue}active`, `${queue}active`, 'LEFT', 'RIGHT', '1'],
    },
    { name: 'waits for a job', request: ['BLMOVE', `${queue}wait`, `${queue}active`, 'LEFT', 'RIGHT', '0.01'] },
    { name: 'removal of 10,000 keys', request: ['UNLINK', ...repeated(`${queue}none`, 10_000)] },
    { name: 'the time', request: ['TIME'] },
    { name: 'a heartbeat of 5 MB', isExcess: true, request: ['SET', redisKeys.heartbeat(thief), LARGE, 'PX', '15000'] },
    {
      name: 'a heartbeat of 16 kB in each reply',
      heartbeatBytes: 16_000,
      request: ['SET', redisKeys.heartbeat(thief), 'x', 'NX', 'GET'],
    },
    {
      name: 'a heartbeat of 64 kB in each reply',
      heartbeatBytes: 65_536,
      isExcess: true,
      request: ['SET', redisKeys.heartbeat(thief), 'x', 'NX', 'GET'],
    },
    {
      name: 'a heartbeat of 900 kB in each reply',
      heartbeatBytes: 900_000,
      isExcess: true,
      request: ['SET', redisKeys.heartbeat(thief), 'x', 'NX', 'GET'],
    },
    { name: 'a heartbeat that is removed', request: ['DEL', redisKeys.heartbeat(thief)] },
    { name: 'a login with a password of 900 kB', request: ['AUTH', 'none', { bytes: 900_000 }] },
    { name: 'the protocol changed to and fro', request: ['HELLO', '3'] },
    {
      name: 'a notification of 5 MB',
      isExcess: true,
      request: ['PUBLISH', redisKeys.resultNotification(thief), LARGE],
    },
    { name: 'a script by its digest', request: ['EVALSHA', 'f'.repeat(40), '0'] },
    { name: 'results of 5 MB', isExcess: true, request: ['XADD', redisKeys.results(thief), '*', 'data', LARGE] },
    { name: 'small results without end', request: ['XADD', redisKeys.results(thief), '*', 'a', 'b'] },
    {
      name: 'results of 100,000 fields',
      isExcess: true,
      request: ['XADD', redisKeys.results(thief), '*', ...repeated('a', 200_000)],
    },
    ...onFew,
    { name: 'the time, on 12 connections', isExcess: true, connections: 12, request: ['TIME'] },
    { name: 'the time, on 200 connections', isExcess: true, connections: 200, request: ['TIME'] },
  ];
}

function queueOf(thief: string): string {
  return `${redisKeys.queuePrefix(thief)}:${JOB_QUEUE}:`;
}

/** A request as Redis reads it (RESP2). */
export function encode(request: Attack['request']): Buffer {
  const parts = request.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.alloc(part.bytes, 'x')));
  return Buffer.concat([
    Buffer.from(`*${parts.length}\r\n`),
    ...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]),
  ]);
}
