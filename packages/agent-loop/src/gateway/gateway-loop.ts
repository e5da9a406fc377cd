import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { LAST_JOBS_MS, type AgentStatus } from '@vantage/contract';
import { pause, within } from '@vantage/timers';

import type { AgentLoop } from '../agent-loop.ts';
import { createParts, type GatewayLoopOptions, type Parts } from './parts.ts';
import { unreadableException } from './proxy/no-proxy.ts';
import type { Session } from './session.ts';

/** Interval at which changes of the status are sent. */
const STATUS_POLL_INTERVAL_MS = 2_000;
/** Interval at which the clock of Redis is read. */
const READ_CLOCK_EVERY_MS = 60_000;
/** Time for the reports of interrupted jobs and the last results to reach the gateway. */
const FAREWELL_MS = 3_000;
/** Wait of a draining agent for its last jobs: the gateway sends jobs for another `LAST_JOBS_MS`. */
const AWAIT_JOBS_MS = LAST_JOBS_MS + 500;
const MAX_REASONS = 16;
const MAX_REASON = 256;

/** Creates an agent loop that gets its jobs from a gateway and returns the results over the same connection. */
export function createGatewayLoop(options: GatewayLoopOptions): AgentLoop {
  warnOfExceptions(options);
  return new GatewayAgent(options);
}

/** Warns of an entry of NO_PROXY that matches nothing. Only a warning: the agent may still reach the service. */
function warnOfExceptions({ proxy, log }: Pick<GatewayLoopOptions, 'proxy' | 'log'>): void {
  const entry = proxy?.url === undefined ? undefined : unreadableException(proxy.except ?? '');
  if (entry === undefined) return;
  log.warn(
    { entry: entry.slice(0, 80) },
    'NO_PROXY has an entry that matches nothing; a network is written as 10.0.0.0/8',
  );
}

class GatewayAgent implements AgentLoop {
  private readonly options: GatewayLoopOptions;
  /** Aborted when the agent drains or closes. */
  private readonly stopping = new AbortController();
  /** Aborted when running jobs must end. */
  private readonly interrupted = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly instance = randomUUID();
  private readonly connected = Promise.withResolvers<void>();
  private parts: Parts | undefined;
  private closing: Promise<void> | undefined;
  /** The status sent last, as JSON. */
  private sent = '';

  constructor(options: GatewayLoopOptions) {
    this.options = options;
  }

  readonly start = async (): Promise<void> => {
    const runner = await this.options.open();
    if (this.stopping.signal.aborted) return runner.close();
    const { instance } = this;
    this.parts = createParts(this.options, runner, {
      instance,
      interrupted: this.interrupted.signal,
      onReady: (session) => {
        this.sendStatus(session, true);
        this.connected.resolve();
      },
    });
    const { link, clock, jobs, isApproved } = this.parts;
    const running = (): number | undefined => (isApproved() ? jobs.running() : undefined);
    const connections = { gateway: link.watched };
    runner.watch?.({ connections, rttMs: clock.rttMs, running, capacity: this.options.concurrency });
    this.timers.push(
      setInterval(() => this.sendStatus(link.session(), false), STATUS_POLL_INTERVAL_MS),
      setInterval(() => void clock.read().catch(() => undefined), READ_CLOCK_EVERY_MS),
    );
    link.start();
    await Promise.race([this.connected.promise, once(this.stopping.signal, 'abort')]);
    if (!this.stopping.signal.aborted) runner.started?.(instance);
  };

  readonly drain = async (): Promise<void> => {
    this.stopping.abort();
    const { parts, options } = this;
    const session = parts?.link.session();
    const lastJobsMs = session === undefined ? 0 : Math.min(AWAIT_JOBS_MS, options.drainMs);
    this.sendStatus(session, false);
    options.log.info({ running: parts?.jobs.running() ?? 0, seconds: options.drainMs / 1_000 }, 'agent draining');
    await pause(lastJobsMs, this.interrupted.signal);
    const idle = parts?.jobs.idle();
    await within(idle, options.drainMs - lastJobsMs);
    this.interrupted.abort();
    const farewell = performance.now() + FAREWELL_MS;
    await within(idle, FAREWELL_MS);
    await parts?.results.flush(AbortSignal.timeout(Math.max(0, Math.ceil(farewell - performance.now()))));
    await this.close();
  };

  readonly close = (): Promise<void> => {
    this.stopping.abort();
    this.interrupted.abort();
    this.closing ??= this.closeAll();
    return this.closing;
  };

  private async closeAll(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.parts?.results.close();
    this.parts?.link.stop();
    await this.parts?.runner.close();
  }

  private sendStatus(session: Session | undefined, always: boolean): void {
    if (this.parts === undefined || session === undefined) return;
    const now = this.status(this.parts);
    if (!always && JSON.stringify(now) === this.sent) return;
    this.sent = JSON.stringify(now);
    session.send({ t: 'status', status: now });
  }

  private status({ work, instability }: Parts): AgentStatus {
    const { capabilities, degraded } = work.describe();
    const reasons = [instability() ?? [], degraded]
      .flat()
      .slice(0, MAX_REASONS)
      .map((reason) => reason.slice(0, MAX_REASON));
    return { capabilities, degraded: reasons, draining: this.stopping.signal.aborted };
  }
}
