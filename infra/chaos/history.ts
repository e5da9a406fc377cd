import { createWriteStream, readFileSync } from 'node:fs';

/**
 * Observations of clients and the injected faults, one JSON record per line of a file. Times are milliseconds since the
 * epoch by the observer's clock, which no fault changes.
 */
export type HistoryRecord = Setup | Answer | StreamEvent | FaultRecord | LostTime | RecoveryRecord;

/** First record of each deployment: checks before it belong to another one. */
export interface Setup {
  readonly kind: 'setup';
  readonly store: string;
  /** Time added to the bounds of completion and recovery, for busy machines. */
  readonly indulgenceMs: number;
  /** Retention of a completed check, milliseconds; undefined: the whole history. */
  readonly keptMs?: number;
}

/** One request and its response; a request may have none. */
export interface Answer {
  readonly kind: 'answer';
  readonly number: number;
  /** Time of the request. */
  readonly at: number;
  /** Time at which the whole body was received or the connection was lost. */
  readonly doneAt: number;
  /** The coordinator that received the request. */
  readonly from: string;
  readonly operation: Operation;
  /** The newest fault when the request was sent, even if it had ended, or the phase without one. */
  readonly fault: string;
  /** True if the coordinator listened without interruption from the request to the end of the response. */
  readonly ran: boolean;
  readonly check?: string | undefined;
  /** Of a start: milliseconds from acceptance to the deadline. */
  readonly budgetMs?: number | undefined;
  readonly lastEventId?: number | undefined;
  /** Absent if there was no answer. */
  readonly status?: number;
  readonly retryAfter?: boolean;
  readonly error?: string;
  readonly body?: unknown;
  /** Number of the earlier response with the same body, which is then not repeated here. */
  readonly sameAs?: number;
}

export type Operation = 'start' | 'results' | 'summary' | 'events';

/** One Server-Sent Event. */
export interface StreamEvent {
  readonly kind: 'event';
  /** Number of the answer that the event is part of. */
  readonly stream: number;
  readonly check: string;
  readonly at: number;
  readonly fault: string;
  readonly id: number;
  readonly name: string;
  readonly data: unknown;
}

/** A fault, from its first act to its last. */
export interface FaultRecord {
  readonly kind: 'fault';
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Components that the fault affects: `store`, `probes`, `clock` (of the store), or a coordinator by name. */
  readonly harmed: readonly string[];
  /** A broken promise: an attack that the service did not end in time, or a process that did not survive the fault. */
  readonly unended?: string | undefined;
}

/**
 * Time that does not count toward promises: an outage of the store or of all coordinators, or time for which the
 * machine kept a busy process from running.
 */
export interface LostTime {
  readonly kind: 'outage' | 'stall';
  readonly from: number;
  readonly to: number;
}

/** Recovery of a probe after a fault. */
export interface RecoveryRecord {
  readonly kind: 'recovery';
  readonly fault: string;
  readonly probe: string;
  /** The end of the fault. */
  readonly from: number;
  /** Time from the end of the fault to the first success, milliseconds; null: none until the observer gave up. */
  readonly ms: number | null;
}

export interface History {
  readonly add: (record: HistoryRecord) => void;
  /** Number of a request that begins. */
  readonly nextNumber: () => number;
  /** Resolves when everything is written to the file. */
  readonly close: () => Promise<void>;
}

/** @param file is overwritten */
export function openHistory(file: string): History {
  const stream = createWriteStream(file);
  /** Bodies repeat: most polls of a pending check return the previous one. */
  const bodies = new Map<string, { readonly number: number; readonly text: string }>();
  let number = 0;
  return {
    nextNumber: () => (number += 1),
    add: (record) =>
      stream.write(`${JSON.stringify(record.kind === 'answer' ? withoutRepeat(record, bodies) : record)}\n`),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}

function withoutRepeat(
  answer: Answer,
  bodies: Map<string, { readonly number: number; readonly text: string }>,
): Answer {
  if (answer.check === undefined || answer.body === undefined) return answer;
  const key = `${answer.check} ${answer.operation}`;
  const text = JSON.stringify(answer.body);
  const before = bodies.get(key);
  if (before?.text !== text) {
    bodies.set(key, { number: answer.number, text });
    return answer;
  }
  const { body: _repeated, ...rest } = answer;
  return { ...rest, sameAs: before.number };
}

/** The records of a file, each answer with its body. */
export function readHistory(file: string): readonly HistoryRecord[] {
  const bodies = new Map<number, unknown>();
  const records: HistoryRecord[] = [];
  // Line by line, because the file of a long run can exceed the maximum length of a string.
  const bytes = readFileSync(file);
  for (let from = 0, to = bytes.indexOf(10); to !== -1; from = to + 1, to = bytes.indexOf(10, from)) {
    const record = JSON.parse(bytes.toString('utf8', from, to)) as HistoryRecord;
    if (record.kind !== 'answer') {
      records.push(record);
      continue;
    }
    if (record.body !== undefined) bodies.set(record.number, record.body);
    records.push(record.sameAs === undefined ? record : { ...record, body: bodies.get(record.sameAs) });
  }
  return records;
}

/** Milliseconds since the epoch that no step of the machine's clock changes. */
export function historyNow(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
