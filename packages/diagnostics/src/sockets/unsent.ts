import type { Failure, FailureCode, FailurePhase } from '@vantage/contract';

import { classifyError } from '../shared/classify-error.ts';

/**
 * Messages for packets that the probe's kernel refused to send, by failure code: they say nothing about the target or
 * the network.
 */
const ofProbe: Readonly<Partial<Record<FailureCode, string>>> = {
  network_unreachable: 'The probe has no route to the target: the packet was not sent.',
  host_unreachable: 'The probe’s own routes do not lead to the target: the packet was not sent.',
  packet_too_big: 'The probe’s own link does not carry a packet of this size: the packet was not sent.',
  administratively_prohibited:
    'The probe’s own rules, such as its firewall, forbid the packet: the packet was not sent.',
};

/** The failure of a packet that the probe's kernel refused to send. */
export function unsentFailure(thrown: unknown, phase: FailurePhase = 'request'): Failure {
  const failure = classifyError(thrown, phase);
  const message = ofProbe[failure.code];
  return message === undefined ? failure : { ...failure, source: 'probe', message };
}

/** A packet that did not leave the probe. */
export interface Unsent {
  readonly atMs: number;
  /**
   * When the kernel reported it; `atMs` if absent. For the three seconds in which it asks a next hop for its link-layer
   * address, packets wait, and it reports only some of them.
   */
  readonly reportedMs?: number;
  readonly failure: Failure;
}

/**
 * Longest silence before the kernel notices that a next hop does not answer: it trusts one that answered for up to 45 s,
 * waits for 5 s, and asks it for 3 s (Linux, `base_reachable_time`, `delay_first_probe_time`).
 */
const UNNOTICED_MS = 55_000;
/** Longest silence after the report that a packet did not leave the probe, or before one that its rules forbid. */
const NEAR_MS = 1_000;

/** True if the silence after a packet sent at this time may be due to the probe, because others did not leave it. */
export function isExplained(sentAtMs: number, unsent: readonly Unsent[]): boolean {
  return unsent.some(({ atMs, reportedMs = atMs, failure: { code } }) => {
    const isUnreachable = code === 'host_unreachable' || code === 'network_unreachable';
    const afterMs = sentAtMs - reportedMs;
    return afterMs <= NEAR_MS && atMs - sentAtMs <= (isUnreachable ? UNNOTICED_MS : NEAR_MS);
  });
}
