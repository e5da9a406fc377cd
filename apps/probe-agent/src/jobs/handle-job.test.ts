import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { loadDiagnostic } from '@vantage/diagnostics';
import { standStill } from '@vantage/test-support/stand-still';

import { createJobHandler, type JobHandlerDependencies } from './handle-job.ts';
import { createSchemas } from './schemas.ts';
import { fakeRuntime, fakeProbeContext, openPort, silent, type FakeRun } from '../../test/fakes.ts';
import { newCheckId, type FinalResult } from '../../test/rig.ts';

const schemas = createSchemas();

interface Handled {
  readonly finals: readonly FinalResult[];
  readonly partials: readonly unknown[];
}

/** Runs one job through the handler. */
async function handle(
  run: FakeRun | undefined,
  job: Readonly<Record<string, unknown>> = {},
  overrides: Partial<JobHandlerDependencies> = {},
  interrupted: AbortSignal = new AbortController().signal,
): Promise<Handled> {
  const finals: FinalResult[] = [];
  const partials: unknown[] = [];
  const checkId = newCheckId();
  const handler = createJobHandler({
    loadDiagnostic: fakeRuntime(run).loadDiagnostic,
    checkTarget: () => undefined,
    probeContext: fakeProbeContext,
    offered: new Set(['tcp']),
    clock: { now: () => Date.now(), rttMs: () => 0, read: async () => undefined },
    schemas,
    outlet: {
      partial: (check, data) => {
        expect(check).toBe(checkId);
        partials.push(JSON.parse(data));
      },
      final: async (check, data) => {
        expect(check).toBe(checkId);
        finals.push(JSON.parse(data) as FinalResult);
      },
    },
    log: silent,
    ...overrides,
  });
  const params = { host: '127.0.0.1', port: 80, options: { attempts: 1 } };
  await handler(checkId, { v: 1, checkId, type: 'tcp', params, deadlineAt: Date.now() + 60_000, ...job }, interrupted);
  return { finals, partials };
}

/** Replaces the timers of the job handler; they advance only as the test requests. */
function stopClock(): void {
  jest.useFakeTimers({ now: Date.now(), doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
}

afterEach(() => {
  jest.useRealTimers();
});

const passes: FakeRun = async ({ port }) => openPort(port);
const hangs: FakeRun = () => new Promise(() => undefined);
const obeys: FakeRun = async ({ port }, { signal }) => {
  await once(signal, 'abort');
  return openPort(port);
};

/** Wraps a run; `started` resolves when it starts. */
function noted(run: FakeRun): { readonly run: FakeRun; readonly started: Promise<void> } {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  return {
    started,
    run: (params, context) => {
      resolve();
      return run(params, context);
    },
  };
}

describe('a job', () => {
  it('reports the time of the resolution to a job that asks for it, and to no other', async () => {
    const target = {
      host: 'a.example',
      address: '127.0.0.1',
      family: 4,
      addresses: ['127.0.0.1'],
      resolveMs: 12.5,
    } as const;
    const probeContext = () => ({ ...fakeProbeContext(), admit: async () => ({ admitted: true, target }) as const });
    const run: FakeRun = async ({ port }, { admit, signal }) => {
      await admit({ host: 'a.example', port, purpose: 'tcp' }, signal);
      return openPort(port);
    };
    const params = { host: 'a.example', port: 80, options: { attempts: 1 } };

    const asked = await handle(run, { params: { ...params, rules: { resolve: true } } }, { probeContext });
    const plain = await handle(run, { params }, { probeContext });

    expect(asked.finals).toMatchObject([{ result: 'success', resolve: 12.5 }]);
    expect(plain.finals).toMatchObject([{ result: 'success' }]);
    expect(plain.finals[0]).not.toHaveProperty('resolve');
  });

  it('states for how long the probe stood still', async () => {
    const { finals } = await handle(async ({ port }) => {
      standStill(1_500);
      return openPort(port);
    });

    expect(finals).toMatchObject([{ result: 'success', state: 'open' }]);
    expect(finals[0]!['stalled']).toBeGreaterThan(1_000);
  });

  it('does not take silence for that of the target if the probe stood still', async () => {
    const message = 'The port did not answer in time.';
    const error = { code: 'timed_out', phase: 'connect', source: 'network', message } as const;
    const silence = (port: number) =>
      ({ ...openPort(port), result: 'timeout', rt: null, state: 'filtered', error }) as const;
    const { finals } = await handle(async ({ port }) => {
      standStill(1_500);
      return silence(port);
    });
    const { finals: awake } = await handle(async ({ port }) => silence(port));

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'probe_interrupted', source: 'probe' } }]);
    expect(finals[0]).not.toHaveProperty('state');
    expect(awake).toMatchObject([{ result: 'timeout', state: 'filtered' }]);
    expect(awake[0]).not.toHaveProperty('stalled');
  });

  it('ends in one result with the times of its start and end', async () => {
    const { finals } = await handle(passes);

    expect(finals).toMatchObject([{ result: 'success', state: 'open', error: null }]);
    expect(Date.parse(finals[0]!.startedAt!)).toBeLessThanOrEqual(Date.parse(finals[0]!.finishedAt));
  });

  it.each([
    ['is of a later version', { v: 2 }],
    ['is of an unknown type', { type: 'telepathy' }],
    ['has a type that objects inherit', { type: 'constructor' }],
    ['has no host', { params: { port: 80, options: { attempts: 1 } } }],
    ['has a port that is none', { params: { host: '127.0.0.1', port: 0, options: { attempts: 1 } } }],
    ['has options out of range', { params: { host: '127.0.0.1', port: 80, options: { attempts: 99 } } }],
    ['has no deadline', { deadlineAt: undefined }],
    ['is for another check than the one it is queued for', { checkId: newCheckId() }],
  ])('that %s is reported as unreadable', async (_reason, job) => {
    const { finals } = await handle(passes, job);

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'invalid_job', source: 'probe' } }]);
  });

  it('of a coordinator that is a release behind gets the defaults of options it does not send', async () => {
    let seen: unknown;
    await handle(
      async (params) => {
        seen = params;
        return openPort(params.port);
      },
      { params: { host: '127.0.0.1', port: 80, options: {} }, addedLater: true },
    );

    expect(seen).toMatchObject({ options: { attempts: 3 } });
  });

  it.each([
    ['less than half of its time was left', 2_000, 'probe_timeout', undefined],
    ['half of its time was left, the margin of the agent included', 2_700, 'timed_out', 'filtered'],
    ['most of its time was left', 4_500, 'timed_out', 'filtered'],
  ])('in which nothing answered says so of the target only if it had time: %s', async (_, leftMs, code, state) => {
    const { finals } = await handle(
      async ({ port }, { emitPartial }) => {
        const error = { code: 'timed_out', phase: 'connect', source: 'network', message: 'Nothing.' } as const;
        const fields = { resolvedIp: '127.0.0.1', port, attempts: [{ rt: null, error }] };
        emitPartial(fields);
        return { result: 'timeout', rt: null, error, state: 'filtered', ...fields };
      },
      { deadlineAt: Date.now() + leftMs },
    );

    expect(finals).toEqual([
      expect.objectContaining({
        result: 'timeout',
        resolvedIp: '127.0.0.1',
        error: expect.objectContaining({ code }),
      }),
    ]);
    expect((finals[0] as { readonly state?: string }).state).toBe(state);
  });

  it('that came after its deadline is dropped without a word', async () => {
    expect((await handle(passes, { deadlineAt: Date.now() - 1 })).finals).toEqual([]);
  });

  it('that seems to come after its deadline is run if the clock of Redis was stepped back', async () => {
    let offMs = 3_600_000;
    const clock = { now: () => Date.now() + offMs, rttMs: () => 0, read: async () => void (offMs = 0) };

    const { finals } = await handle(passes, {}, { clock });

    expect(finals).toMatchObject([{ result: 'success' }]);
  });

  it('of a type that the probe does not offer is reported so', async () => {
    const { finals } = await handle(passes, {}, { offered: new Set() });

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'capability_missing' } }]);
  });

  it('whose diagnostic obeys the abort reports what it has a quarter of a second before the deadline', async () => {
    stopClock();
    const deadlineAt = Date.now() + 600;
    const { started, run } = noted(obeys);
    const handled = handle(run, { deadlineAt });
    await started;

    jest.advanceTimersByTime(350);

    const { finals } = await handled;
    expect(finals).toMatchObject([{ result: 'success' }]);
    expect(Date.parse(finals[0]!.finishedAt)).toBe(deadlineAt - 250);
  });

  it('whose diagnostic ignores the abort is cut off before the deadline', async () => {
    stopClock();
    const deadlineAt = Date.now() + 600;
    const { started, run } = noted(hangs);
    const handled = handle(run, { deadlineAt });
    await started;

    jest.advanceTimersByTime(475);

    const { finals } = await handled;
    expect(finals).toMatchObject([{ result: 'timeout', error: { code: 'probe_timeout' } }]);
    expect(Date.parse(finals[0]!.finishedAt)).toBe(deadlineAt - 125);
  });

  it('whose diagnostic obeys the abort a moment later is waited for, though the machine stood still till then', async () => {
    const { started, run } = noted(async ({ port }, { signal }) => {
      await once(signal, 'abort');
      await sleep(50);
      return openPort(port);
    });
    const handled = handle(
      run,
      { deadlineAt: 350 },
      { clock: { now: () => 0, rttMs: () => 0, read: async () => undefined } },
    );
    await started;

    // Blocks the event loop until after the abort and the cut-off.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);

    expect((await handled).finals).toMatchObject([{ result: 'success' }]);
  });

  it.each<[string, FakeRun]>([
    ['throws', async () => Promise.reject(new Error('secret detail'))],
    [
      'throws at once',
      () => {
        throw new TypeError('secret detail');
      },
    ],
    ['throws something that is no error', async () => Promise.reject('secret detail')],
  ])('whose diagnostic %s is a fault of the probe, without its details', async (_reason, run) => {
    const { finals } = await handle(run);

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'internal_error', phase: 'exec' } }]);
    expect(JSON.stringify(finals)).not.toContain('secret');
  });

  it('whose diagnostic throws the reason of its abort timed out', async () => {
    const { finals } = await handle(
      async (_params, { signal }) => {
        await once(signal, 'abort');
        throw signal.reason;
      },
      { deadlineAt: 500 },
      { clock: { now: () => 0, rttMs: () => 0, read: async () => undefined } },
    );

    expect(finals).toMatchObject([{ result: 'timeout', error: { code: 'probe_timeout' } }]);
  });

  it('is reported as interrupted when the agent must stop, whatever its diagnostic makes of it', async () => {
    const stop = new AbortController();
    const { started, run } = noted(obeys);
    const handled = handle(run, {}, {}, stop.signal);
    await started;

    stop.abort();

    const { finals } = await handled;

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'probe_interrupted' } }]);
  });

  it.each<[string, FakeRun]>([
    ['must stop', hangs],
    ['throws', () => Promise.reject(new Error('no'))],
  ])('keeps what was measured when the agent %s', async (_reason, end) => {
    const stop = new AbortController();
    const attempts = [{ rt: 1, error: null }];
    const handled = handle(
      async (params, context) => {
        context.emitPartial({ resolvedIp: '192.0.2.1', port: params.port, attempts });
        if (end === hangs) setImmediate(() => stop.abort());
        return end(params, context);
      },
      {},
      {},
      stop.signal,
    );

    const { finals } = await handled;

    expect(finals).toMatchObject([{ result: 'error', rt: null, resolvedIp: '192.0.2.1', port: 80, attempts }]);
    expect(finals[0]!.startedAt).not.toBeNull();
  });

  it('says why it was cut short even if its newest state breaks the schema', async () => {
    const stop = new AbortController();
    const { finals } = await handle(
      (_params, context) => {
        context.emitPartial({ attempts: 'many' });
        stop.abort();
        return new Promise(() => undefined);
      },
      {},
      {},
      stop.signal,
    );

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'probe_interrupted' } }]);
  });

  it('whose code cannot be loaded is a fault of the probe', async () => {
    const { finals } = await handle(
      passes,
      {},
      { loadDiagnostic: async () => Promise.reject(new Error('no such file')) },
    );

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'internal_error' } }]);
  });

  it('whose diagnostic returns what is no result is reported so', async () => {
    const { finals } = await handle(async () => ({ ...openPort(80), rt: Number.NaN }));

    expect(finals).toMatchObject([{ result: 'error', error: { code: 'invalid_result' } }]);
  });

  it('is an error, and nothing runs, when the policy of the probe refuses what the job names', async () => {
    let ran = false;
    const { finals } = await handle(
      async ({ port }) => {
        ran = true;
        return openPort(port);
      },
      {},
      { checkTarget: (type, params) => `no ${type} to ${JSON.stringify(params)}` },
    );

    expect(ran).toBe(false);
    expect(finals).toMatchObject([
      {
        result: 'error',
        startedAt: null,
        error: {
          code: 'target_refused_by_policy',
          phase: 'dispatch',
          source: 'probe',
          message: expect.stringMatching(/^no tcp to \{"host":/),
        },
      },
    ]);
  });

  it('shows the newest state, and none after its end', async () => {
    let emitLate = (): void => undefined;
    const shown = Promise.withResolvers<void>();
    const partials: unknown[] = [];
    const partial = (_check: string, data: string): void => {
      partials.push(JSON.parse(data));
      shown.resolve();
    };
    await handle(
      async ({ port }, { emitPartial }) => {
        emitPartial({ port: 1 });
        emitPartial({ port: 2 });
        await shown.promise;
        emitLate = () => emitPartial({ port: 3 });
        return openPort(port);
      },
      {},
      { outlet: { partial, final: async () => undefined } },
    );
    emitLate();
    await sleep(300);

    expect(partials).toEqual([{ port: 2, startedAt: expect.stringMatching(/Z$/) }]);
  });

  it('never shows a state that breaks the schema', async () => {
    const { partials, finals } = await handle(async ({ port }, { emitPartial }) => {
      emitPartial({ port: -1 });
      await sleep(300);
      return openPort(port);
    });

    expect(partials).toEqual([]);
    expect(finals).toHaveLength(1);
  });
});

describe('the context of a diagnostic', () => {
  it('is the time that is left, less a margin and the round trip to Redis', async () => {
    let remainingMs = 0;
    await handle(
      async ({ port }, context) => {
        remainingMs = context.remainingMs();
        return openPort(port);
      },
      { deadlineAt: 60_000 },
      { clock: { now: () => 0, rttMs: () => 500, read: async () => undefined } },
    );

    expect(remainingMs).toBeLessThanOrEqual(59_250);
    expect(remainingMs).toBeGreaterThan(30_000);
  });

  it('is the code of its type', async () => {
    const asked: string[] = [];
    await handle(
      undefined,
      {},
      {
        loadDiagnostic: async (type) => {
          asked.push(type);
          return loadDiagnostic(type);
        },
      },
    );

    expect(asked).toEqual(['tcp']);
  });
});
