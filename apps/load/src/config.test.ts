import { describe, expect, it } from '@jest/globals';

import { readConfig } from './config.ts';

describe('the configuration of a load', () => {
  it('is read from flags, which come before the environment', () => {
    const config = readConfig(['--rate', '25', '--mix', 'dns=1,tcp=3', '--follow', 'sse'], {
      LOAD_TARGET: '192.0.2.1',
      LOAD_RATE: '3',
    });

    expect(config).toMatchObject({
      target: '192.0.2.1',
      rate: 25,
      follow: 'sse',
      mix: [
        ['dns', 1],
        ['tcp', 3],
      ],
    });
  });

  it('names every fault by the flag or the variable that has it', () => {
    const read = (): unknown => readConfig(['--rate', 'many', '--mix', 'smtp=1'], { LOAD_SEED: '-1' });

    for (const fault of ['--rate must', '--mix has the item “smtp=1”', 'LOAD_TARGET is required', 'LOAD_SEED must']) {
      expect(read).toThrow(fault);
    }
  });

  it.each([
    ['a flag that there is not', ['--speed', '1']],
    ['a mix of nothing', ['--target', '192.0.2.1', '--mix', ',']],
  ])('refuses %s', (_reason, flags) => {
    expect(() => readConfig(flags, {})).toThrow();
  });
});
