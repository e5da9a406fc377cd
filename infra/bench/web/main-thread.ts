import type { Tab } from '../../../apps/web/test/browser.ts';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
}

/**
 * Records the tasks of a page's main thread.
 *
 * @returns a function that ends the recording, with the CPU time of each task over half a millisecond; it rejects if the
 * browser ends
 */
export async function recordTasks(page: Tab['page']): Promise<() => Promise<readonly number[]>> {
  const session = await page.createCDPSession();
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    categories: 'devtools.timeline,disabled-by-default-devtools.timeline,toplevel',
    transferMode: 'ReportEvents',
  });
  return async () => {
    const ended = new Promise((resolve, reject) => {
      session.once('Tracing.tracingComplete', resolve);
      // The browser sends its last events after it has answered, or ends before.
      page.browser().once('disconnected', () => reject(new Error('the browser ended')));
    });
    await Promise.all([ended, session.send('Tracing.end')]);
    return taskTimes(events);
  };
}

function taskTimes(events: readonly TraceEvent[]): readonly number[] {
  const main = busiest(events.filter(({ name }) => name === 'FunctionCall' || name === 'EvaluateScript'));
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && `${pid} ${tid}` === main,
  );
  return tasks.map(({ tdur, dur = 0 }) => (tdur ?? dur) / 1_000).filter((ms) => ms > 0.5);
}

function busiest(events: readonly TraceEvent[]): string | undefined {
  const counts = Map.groupBy(events, ({ pid, tid }) => `${pid} ${tid}`);
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}
