import { describe, expect, it } from '@jest/globals';
import { checkTypes } from '@vantage/diagnostics/contract';
import { isOwnQuestionPort, isReflectorPort } from '@vantage/target-policy';

const errors = (port: number): readonly string[] =>
  checkTypes.udp.inputErrors!({ host: 'example.com', port, options: { payload: '00', attempts: 1 } }).map(
    ({ path }) => path,
  );

describe('a payload of a caller', () => {
  it('is refused by the udp contract on the ports that the policy protects, and on no other', () => {
    const ports = Array.from({ length: 65_535 }, (_, index) => index + 1);

    const refused = ports.filter((port) => errors(port).includes('/options/payload'));

    expect(refused).toEqual(ports.filter((port) => isReflectorPort(port) || isOwnQuestionPort(port)));
    expect(refused).toContain(53);
  });
});
