import type { Agreement, MonitorStateName, RunAtProbe } from '@vantage/contract';

/** The results of a tick. */
export interface TickOutcome {
  readonly tick: number;
  /** Due time of the tick, milliseconds since the epoch. */
  readonly atMs: number;
  readonly headline: string | null;
  readonly probes: Readonly<Record<string, RunAtProbe & ProbePlace>>;
}

export interface ProbePlace {
  readonly network: string | null;
  readonly country: string | null;
}

/** State of a probe that a monitor keeps between ticks. */
export interface ProbeMemory extends RunAtProbe, ProbePlace {
  readonly sinceMs: number;
  /** Tick of the probe's last result. */
  readonly tick: number;
  /** Tick at which the probe last measured; undefined before the first, and in a state of an earlier release. */
  readonly measuredTick?: number | undefined;
  /** `o` and `f` for the last ticks at which the probe measured, oldest first. */
  readonly history: string;
  readonly flapping: boolean;
}

export interface MonitorState {
  /** Number of the last evaluated tick. */
  readonly tick: number;
  readonly atMs: number;
  readonly state: MonitorStateName;
  readonly sinceMs: number;
  /** Consecutive measured ticks with another state; for `unknown`, consecutive ticks that could not decide. */
  readonly turning: Turning | null;
  /** A pending change that is paused by ticks that could not decide: they count neither for nor against it. */
  readonly suspended?: Turning | null | undefined;
  /**
   * Start of the alarm, which lasts from a change to bad until a change to ok; null without one. A state of an earlier
   * release does not have the field.
   */
  readonly alarmSinceMs?: number | null | undefined;
  /** Null until the first tick after a change of the definition. */
  readonly agreement: Agreement | null;
  readonly headline: string | null;
  /** The traceroute that followed the monitor's change to bad. */
  readonly traceId?: string | null;
  /** Id of the check whose path later ones are compared with, by probe; for traceroute monitors. */
  readonly pathChecks?: Readonly<Record<string, string>> | undefined;
  /**
   * Ids of the last checks since the last proved change of the path, with the hash of the path, oldest first, by probe.
   */
  readonly pathRuns?: Readonly<Record<string, readonly (readonly [id: string, hash: string])[]>> | undefined;
  /** Time of the last tick with a change of the path, milliseconds since the epoch. */
  readonly pathChangedMs?: number | undefined;
  /** Locations without a probe at the last tick; undefined if there are none. */
  readonly emptyLocations?: readonly string[] | undefined;
  readonly probes: Readonly<Record<string, ProbeMemory>>;
}

/** The state after a tick. */
export interface EvaluatedState extends MonitorState {
  readonly agreement: Agreement;
}

interface Turning {
  readonly to: MonitorStateName;
  readonly ticks: number;
}

export type ReducedEvent =
  | {
      readonly kind: 'state';
      readonly tick: number;
      readonly atMs: number;
      readonly from: MonitorStateName;
      readonly to: MonitorStateName;
    }
  | {
      readonly kind: 'probe';
      readonly tick: number;
      readonly atMs: number;
      readonly probe: string;
      readonly from: RunAtProbe['state'];
      readonly to: RunAtProbe['state'];
    };
