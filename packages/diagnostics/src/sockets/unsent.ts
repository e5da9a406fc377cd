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
