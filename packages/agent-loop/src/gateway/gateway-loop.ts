import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { LAST_JOBS_MS, type AgentStatus } from '@vantage/contract';
import { pause, within } from '@vantage/timers';

import type { AgentLoop } from '../agent-loop.ts';
import { createParts, type GatewayLoopOptions, type Parts } from './parts.ts';
import type { Session } from './session.ts';

/** Changes of the status are sent at this interval. */
const LOOK_AT_STATUS_EVERY_MS = 2_000;
/** The offset to the clock of Redis changes by drift alone. */
const READ_CLOCK_EVERY_MS = 60_000;
/** Time for the reports of interrupted jobs and the last results to reach the gateway. */
const FAREWELL_MS = 3_000;
/** Longer than the gateway gives jobs: its last one arrives before the connection is closed. */
const AWAIT_JOBS_MS = LAST_JOBS_MS + 500;
const MAX_REASONS = 16;
const MAX_REASON = 256;

/** A probe that gets its jobs from a gateway and returns the results over the same connection. */
export function createGatewayLoop(options: GatewayLoopOptions): AgentLoop {
  const { log, drainMs } = options;
  const stopping = new AbortController();
  const interrupted = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const instance = randomUUID();
  const connected = Promise.withResolvers<void>();
  let parts: Parts | undefined;
  let closing: Promise<void> | undefined;
  let sent = '';

  const status = ({ work }: Parts): AgentStatus => {
    const { capabilities, degraded } = work.describe();
    const reasons = degraded.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON));
    return { capabilities, degraded: reasons, draining: stopping.signal.aborted };
  };
  const sendStatus = (session: Session | undefined, always: boolean): void => {
    if (parts === undefined || session === undefined) return;
    const now = status(parts);
    if (!always && JSON.stringify(now) === sent) return;
    sent = JSON.stringify(now);
    session.send({ t: 'status', status: now });
  };
  const onReady = (session: Session): void => {
    sendStatus(session, true);
    connected.resolve();
  };

  const start = async (): Promise<void> => {
    const runner = await options.open();
    if (stopping.signal.aborted) return runner.close();
    parts = createParts(options, runner, { instance, interrupted: interrupted.signal, onReady });
    const { link, clock, jobs } = parts;
    const { running } = jobs;
    runner.watch?.({
      connections: { gateway: link.watched },
      rttMs: clock.rttMs,
      running,
      capacity: options.concurrency,
    });
    timers.push(
      setInterval(() => sendStatus(link.session(), false), LOOK_AT_STATUS_EVERY_MS),
      setInterval(() => void clock.read().catch(() => undefined), READ_CLOCK_EVERY_MS),
    );
    link.start();
    await Promise.race([connected.promise, once(stopping.signal, 'abort')]);
    if (!stopping.signal.aborted) runner.started?.(instance);
  };

  const close = (): Promise<void> => {
    stopping.abort();
    interrupted.abort();
    closing ??= (async () => {
      for (const timer of timers) clearInterval(timer);
      parts?.results.close();
      parts?.link.stop();
      await parts?.runner.close();
    })();
    return closing;
  };

  const drain = async (): Promise<void> => {
    stopping.abort();
    const session = parts?.link.session();
    const lastJobsMs = session === undefined ? 0 : Math.min(AWAIT_JOBS_MS, drainMs);
    sendStatus(session, false);
    log.info({ running: parts?.jobs.running() ?? 0, seconds: drainMs / 1_000 }, 'agent draining');
    await pause(lastJobsMs, interrupted.signal);
    const idle = parts?.jobs.idle();
    await within(idle, drainMs - lastJobsMs);
    interrupted.abort();
    const farewell = performance.now() + FAREWELL_MS;
    await within(idle, FAREWELL_MS);
    await parts?.results.flush(AbortSignal.timeout(Math.max(0, Math.ceil(farewell - performance.now()))));
    await close();
  };

  return { start, drain, close };
}
