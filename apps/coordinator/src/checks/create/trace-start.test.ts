import type { Job } from '@vantage/contract';
import type { TraceSpan, Tracing } from '@vantage/telemetry';
import { describe, expect, it } from '@jest/globals';

import type { NewCheck } from '../store/records/new-check.ts';
import type { NewJob, StartCheck } from './enqueue-check.ts';
import { traceStart } from './trace-start.ts';

const id = 'a'.repeat(22);
const check: NewCheck = { id, type: 'ping', host: 'h', createdAt: 0, deadlineAt: 1, probes: ['fra-1', 'nyc-1'] };
const job: Job = { v: 1, checkId: id, type: 'ping', params: {}, deadlineAt: 1 };
const jobs: readonly NewJob[] = check.probes.map((probe) => ({ probe, id, job }));

/** Numbers spans in the order of their start; `said` has their failures and ends, each with the probe of the span. */
function record(): { readonly tracing: Tracing; readonly said: string[] } {
  const said: string[] = [];
  let count = 0;
  const start: Tracing['start'] = (name, { attributes = {} } = {}) => {
    count += 1;
    const own = `${count} ${name} ${String(attributes['vantage.probe'])}`;
    return {
      ...({
        traceparent: `place ${count}`,
        run: (run) => run(),
        set: ignore,
        rename: ignore,
      } satisfies Partial<TraceSpan>),
      fail: (why) => said.push(`${own}: ${why}`),
      end: () => said.push(`${own} ended`),
    };
  };
  const unused = (): never => {
    throw new Error('This is not used.');
  };
  return { tracing: { start, around: unused, traceparent: unused, close: unused }, said };
}

describe('the trace of a check that is started', () => {
  it('gives each job its own span, which ends with the reply', async () => {
    const { tracing, said } = record();
    const given: unknown[] = [];
    const start: StartCheck = async (_check, placed) => {
      given.push(...placed);
      said.push('answered');
      const reason = Object.assign(new Error('WRONGTYPE'), { name: 'ReplyError' });
      return {
        isNew: true,
        jobs: [
          { status: 'fulfilled', value: undefined },
          { status: 'rejected', reason },
        ],
      };
    };

    const started = await traceStart(start, tracing)(check, jobs);

    expect(started.jobs.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(given).toEqual([
      { probe: 'fra-1', id, job: { ...job, traceparent: 'place 1' } },
      { probe: 'nyc-1', id, job: { ...job, traceparent: 'place 2' } },
    ]);
    expect(said).toEqual([
      'answered',
      '2 enqueue ping nyc-1: ReplyError',
      '1 enqueue ping fra-1 ended',
      '2 enqueue ping nyc-1 ended',
    ]);
  });

  it('fails with the check, whose error is handed on', async () => {
    const { tracing, said } = record();
    const start: StartCheck = async () => {
      throw new RangeError('a stranger’s words');
    };

    await expect(traceStart(start, tracing)(check, jobs)).rejects.toThrow('a stranger’s words');

    expect(said).toEqual([
      '1 enqueue ping fra-1: RangeError',
      '2 enqueue ping nyc-1: RangeError',
      '1 enqueue ping fra-1 ended',
      '2 enqueue ping nyc-1 ended',
    ]);
  });
});

function ignore(): void {
  // The callback is required but not tested here.
}
