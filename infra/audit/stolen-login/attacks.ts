import { JOB_QUEUE, redisKeys } from '@vantage/contract';

/** What somebody with an agent's login can send, at its worst. */
export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** One request, sent again and again. */
  readonly request: readonly (string | Readonly<{ bytes: number }>)[];
  /** True leaves the replies unread. */
  readonly isDeaf?: boolean;
  /** True for what fills memory until the agent's user is switched off: it has no goal, its end has. */
  readonly isFlood?: boolean;
}

export const THIEF = 'thief';
/** Jobs that coordinators gave the probe and that it took: several times what it runs at once. */
export const ACTIVE_JOBS = 100;

const queue = `${redisKeys.queuePrefix(THIEF)}:${JOB_QUEUE}:`;
const LARGE = { bytes: 15 * 1_048_576 };
const repeated = (text: string, times: number): readonly string[] => Array.from({ length: times }, () => text);

export const attacks: readonly Attack[] = [
  {
    name: 'a job read again and again',
    connections: 4,
    request: ['HGETALL', `${queue}job`],
  },
  {
    ...{ name: 'replies left unread', connections: 20, isDeaf: true },
    request: ['HGETALL', `${queue}job`],
  },
  { name: 'the list of active jobs', connections: 4, request: ['LRANGE', `${queue}active`, '0', '-1'] },
  { name: 'a search for a job that is not there', connections: 4, request: ['LREM', `${queue}active`, '0', 'none'] },
  {
    name: 'jobs moved in a circle',
    connections: 4,
    request: ['BLMOVE', `${queue}active`, `${queue}active`, 'LEFT', 'RIGHT', '1'],
  },
  {
    name: 'waits for a job',
    connections: 500,
    request: ['BLMOVE', `${queue}wait`, `${queue}active`, 'LEFT', 'RIGHT', '0.01'],
  },
  { name: 'removal of 10,000 keys', connections: 4, request: ['UNLINK', ...repeated(`${queue}none`, 10_000)] },
  { name: 'the time', connections: 20, request: ['TIME'] },
  { name: 'a heartbeat of 15 MiB', connections: 2, request: ['SET', redisKeys.heartbeat(THIEF), LARGE, 'PX', '15000'] },
  { name: 'a hint of 15 MiB', connections: 2, request: ['PUBLISH', redisKeys.resultHint(THIEF), LARGE] },
  { name: 'a script that coordinators loaded', connections: 4, request: ['EVALSHA', 'f'.repeat(40), '0'] },
  {
    ...{ name: 'results of 15 MiB', connections: 2, isFlood: true },
    request: ['XADD', redisKeys.results(THIEF), '*', 'data', LARGE],
  },
];

/** A request as Redis reads it (RESP2). */
export function encode(request: Attack['request']): Buffer {
  const parts = request.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.alloc(part.bytes, 'x')));
  return Buffer.concat([
    Buffer.from(`*${parts.length}\r\n`),
    ...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]),
  ]);
}
