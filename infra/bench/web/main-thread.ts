import type { ChildProcess } from 'node:child_process';

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
 * @returns a function that ends the recording, with the CPU time of each task over half a millisecond; it rejects if
 *   the page or the browser has ended
 */
export async function recordTasks(page: Tab['page']): Promise<() => Promise<readonly number[]>> {
  const session = await page.createCDPSession();
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    categories: 'devtools.timeline,disabled-by-default-devtools.timeline,toplevel',
    transferMode: 'ReportEvents',
  });
  const { lost, unwatch } = watchEnd(page);
  return async () => {
    // The browser sends its last events after it has answered.
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    const end = session.send('Tracing.end').catch(async (error: unknown) => {
      // The error of a closed session does not name the reason.
      if (page.browser().connected) throw error;
      await lost;
    });
    await Promise.race([lost, Promise.all([complete, end])]).finally(unwatch);
    return taskTimes(events);
  };
}

/** `lost` rejects with the reason when the page or its browser ends, even if no request to them is open. */
function watchEnd(page: Tab['page']): { readonly lost: Promise<never>; readonly unwatch: () => void } {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined);
  const browser = page.browser();
  // After a crash, the tasks up to there would look like all of them.
  const onCrash = (): void => reject(new Error('the page crashed'));
  const onEnd = (): void => {
    const program = browser.process();
    const say = (): void => reject(new Error(`the browser ended${statusOf(program)}`));
    if (program === null || program.exitCode !== null) say();
    else program.once('exit', say);
  };
  page.on('error', onCrash);
  browser.on('disconnected', onEnd);
  const unwatch = (): void => {
    page.off('error', onCrash);
    browser.off('disconnected', onEnd);
  };
  return { lost, unwatch };
}

/**
 * The exit status or the signal, if known. A status of 128 plus the number of a signal, such as 137 (SIGKILL) or 139
 * (SIGSEGV), usually means that signal.
 */
function statusOf(program: ChildProcess | null): string {
  const status = program?.exitCode ?? program?.signalCode ?? null;
  return status === null ? '' : `, exit status ${status}`;
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
