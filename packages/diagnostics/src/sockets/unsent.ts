import type { Failure, FailureCode, FailurePhase } from '@vantage/contract';

import { classifyError } from '../shared/classify-error.ts';

/** What keeps a packet from leaving the probe says nothing of the target, nor of the network behind the probe. */
const ofProbe: Readonly<Partial<Record<FailureCode, string>>> = {
  network_unreachable: 'The probe has no route to the target: nothing was sent.',
  host_unreachable: 'The probe’s own routes do not lead to the target: nothing was sent.',
  administratively_prohibited: 'The probe’s own rules, such as its firewall, forbid the packet: nothing was sent.',
};

/** The failure of a packet that the kernel of the probe refused to send, by what it threw. */
export function unsentFailure(thrown: unknown, phase: FailurePhase = 'request'): Failure {
  const failure = classifyError(thrown, phase);
  const message = ofProbe[failure.code];
  return message === undefined ? failure : { ...failure, source: 'probe', message };
}
