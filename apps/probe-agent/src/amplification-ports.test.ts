import { describe, expect, it } from '@jest/globals';
import { amplificationPorts, ruleErrors } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { evaluatePort } from '@vantage/target-policy';

const errors = (port: number): readonly string[] =>
  ruleErrors(checkTypes.udp, { host: 'example.com', port, options: { payload: '00', attempts: 1 } }).map(
    ({ path }) => path,
  );

describe('a payload of a caller', () => {
  it('is refused by the udp contract on amplification ports, and on no other', () => {
    const ports = Array.from({ length: 65_535 }, (_, index) => index + 1);

    const refused = ports.filter((port) => errors(port).includes('/options/payload'));

    expect(refused).toEqual(amplificationPorts);
    expect(refused).toContain(53);
  });
});

describe('a datagram of a trace', () => {
  const options = { protocol: 'udp', maxHops: 30, queries: 3, flows: 1 } as const;
  const ports = Array.from({ length: 65_535 }, (_, index) => index + 1);

  it('is refused by the traceroute contract on the same ports, and on no other', () => {
    const refused = ports.filter((port) =>
      ruleErrors(checkTypes.traceroute, { host: 'example.com', options: { ...options, port } }).some(
        ({ path }) => path === '/options/port',
      ),
    );

    expect(refused).toEqual(amplificationPorts);
    expect(refused).toContain(1_900);
  });

  it('and a SYN of one are judged by the port they go to', () => {
    const decision = (protocol: 'udp' | 'tcp', port?: number) =>
      checkTypes.traceroute.otherTargets!({
        host: 'example.com',
        options: { ...options, protocol, ...(port === undefined ? {} : { port }) },
      }).map((other) => evaluatePort(other.purpose, other.port)?.code);

    expect(decision('tcp', 25)).toEqual(['port_refused']);
    expect(decision('tcp')).toEqual([undefined]);
    expect(decision('udp')).toEqual([undefined]);
  });
});
