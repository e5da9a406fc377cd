import { roundMs, type Failure } from '@vantage/contract';

import { altSvcOf } from '../alt-svc.ts';
import { boundText } from '../../../shared/bounded-text.ts';
import { headFields, type Head } from '../../../http-client/response-head.ts';
import type { PartialFields } from '../../../diagnostic.ts';
import type { Http, HttpFields } from '../types.ts';
import type { HeadSeen } from '../../../http-client/answer.ts';

/** One request and its response, with all measurements before its failure, if it failed. */
export interface Step {
  readonly fields: HttpFields;
  readonly resolvedIp: string | null;
  /** Time to the end of the response's head, milliseconds. */
  readonly rt: number | null;
  readonly head: Head | null;
  readonly failure: Failure | null;
}

export type StepProgress = PartialFields<Http>;

export type Phase = 'dns' | 'connect' | 'tls' | 'firstByte' | 'download';

/** Timings of a step while it runs. */
export interface StepRecord {
  readonly resolved: (address: string) => void;
  readonly headSeen: (seen: HeadSeen) => void;
  /** Records a completed phase. */
  readonly done: (phase: Phase, ms: number) => void;
  /** Records a phase that was broken off: its time counts into the total and, if `retry` follows, into `retries`. */
  readonly broken: (ms: number) => void;
  /** Moves the timings since name resolution, which belong to an abandoned attempt, into `retries`. */
  readonly retry: () => void;
  readonly add: (fields: HttpFields) => void;
  readonly end: (failure: Failure | null) => Step;
}

/** @param onProgress called with the known fields whenever one is added */
export function recordStep(url: URL, onProgress: (fields: StepProgress) => void): StepRecord {
  let completed: Partial<Record<Phase | 'retries', number>> = {};
  let totalMs = 0;
  let fields: HttpFields = { url: boundText(url.href, 2048) };
  let resolvedIp: string | null = null;
  let rt: number | null = null;
  let head: Head | null = null;

  // Sums rounded phases, so that a reader's sum equals the total. Time between them is the probe's own and not
  // counted.
  const done = (phase: Phase, ms: number): void => {
    completed[phase] = roundMs(ms);
    totalMs += roundMs(ms);
    if (phase !== 'firstByte') onProgress({ ...current(), resolvedIp, rt });
  };
  const add = (more: HttpFields): void => {
    fields = { ...fields, ...more };
    onProgress({ ...current(), resolvedIp, rt });
  };
  const current = (): HttpFields => ({ ...fields, timings: { ...completed, total: roundMs(totalMs) } });

  return {
    resolved: (address) => {
      resolvedIp = address;
    },
    headSeen: (seen) => {
      head = seen.head;
      done('firstByte', seen.firstByteMs);
      rt = roundMs(totalMs + roundMs(seen.headMs - seen.firstByteMs));
      add({ ...headFields(seen.head), altSvc: altSvcOf(seen.head) });
    },
    done,
    broken: (ms) => {
      totalMs += roundMs(ms);
    },
    retry: () => {
      const { dns = 0 } = completed;
      completed = { dns, retries: roundMs(totalMs - dns) };
      rt = null;
    },
    add,
    end: (failure) => ({ fields: current(), resolvedIp, rt, head, failure }),
  };
}
