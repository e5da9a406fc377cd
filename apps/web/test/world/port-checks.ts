import { distances } from './probes.ts';
import { check, eachProbe, failure, final, round, wobble } from './results.ts';

export const tcpCheck = check('tcp_AAAAAAAAAAAAAAAAAA', 'tcp', 'db.example.com', eachProbe(tcpOf));

function tcpOf(id: string, index: number): Record<string, unknown> {
  const isFiltered = ['nyc-1', 'sjc-1', 'gru-1'].includes(id);
  const refused = failure('connection_refused', 'connect', 'target', 'The target refused the connection.');
  const silent = failure('timed_out', 'connect', 'network', 'No handshake came about in time.');
  const state = isFiltered ? 'filtered' : id === 'waw-1' ? 'closed' : 'open';
  const error = state === 'open' ? null : state === 'closed' ? refused : silent;
  const rt = state === 'open' ? distances[index]! : null;
  return final(index, rt, {
    result: state === 'open' ? 'success' : state === 'closed' ? 'failure' : 'timeout',
    error,
    state,
    port: 5432,
    attempts: [0, 1, 2].map((n) => ({ rt: rt === null ? null : round(rt + wobble(n + index)), error })),
  });
}

export const udpCheck = check('udp_AAAAAAAAAAAAAAAAAA', 'udp', 'ntp.example.com', eachProbe(udpOf));

function udpOf(id: string, index: number): Record<string, unknown> {
  const isSilent = id === 'bom-1';
  const rt = isSilent ? null : distances[index]!;
  const error = isSilent ? failure('timed_out', 'response', 'network', 'Nothing came back.') : null;
  return final(index, rt, {
    result: isSilent ? 'timeout' : 'success',
    error,
    state: isSilent ? 'open|filtered' : 'open',
    port: 123,
    payload: `e30006ec${'00'.repeat(44)}`,
    responseBytes: isSilent ? 0 : 48,
    icmp: null,
    response: isSilent ? '' : Buffer.from('240306ec0000001f0000004ac0000201', 'hex').toString('base64'),
    attempts: (isSilent ? [0, 1, 2] : [0]).map(() => ({ rt, error })),
  });
}
