import { describe, expect, it } from '@jest/globals';

import { parseArguments } from './arguments.ts';

describe('the flags of npm start', () => {
  it('have defaults', () => {
    expect(parseArguments([], '/data', {})).toEqual({
      kind: 'run',
      arguments: { port: 8080, probes: 3, rateLimit: undefined, allow: [], dataFolder: '/data', watch: false },
    });
  });

  it('are all read', () => {
    const flags = ['--watch', '--port=0', '--probes', '5', '--rate-limit', '1000', '--data', '/elsewhere'];
    const allow = ['--allow', '127.0.0.0/8', '--allow', '::1/128,10.0.0.0/8'];

    expect(parseArguments([...flags, ...allow], '/data', {})).toEqual({
      kind: 'run',
      arguments: {
        port: 0,
        probes: 5,
        rateLimit: 1000,
        allow: ['127.0.0.0/8', '::1/128', '10.0.0.0/8'],
        dataFolder: '/elsewhere',
        watch: true,
      },
    });
  });

  it.each([
    ['a port out of range', ['--port', '70000'], /invalid --port "70000"; expected an integer from 0 to 65535/],
    ['no probes', ['--probes', '0'], /invalid --probes "0"; expected an integer from 1 to 16/],
    ['a number that is none', ['--rate-limit', 'many'], /invalid --rate-limit "many"/],
    ['an unknown flag', ['--prot', '1'], /--prot/],
    [
      'a CIDR that is none',
      ['--allow', '127.0.0.0/8,300.1.1.1/8'],
      /invalid --allow "300\.1\.1\.1\/8"; expected an address or/,
    ],
    ['a folder without a name', ['--data', ''], /^invalid --data ""; expected a folder$/],
    ['a stray word', ['start'], /start/],
  ])('are refused for %s', (_reason, argv, fault) => {
    const parsed = parseArguments(argv, '/data', {});

    expect(parsed).toMatchObject({ kind: 'invalid', faults: [expect.stringMatching(fault)] });
  });

  it.each([
    ['PORT of the environment without --port', [], '9000', { kind: 'run', arguments: { port: 9000 } }],
    ['--port before PORT', ['--port', '9001'], '9000', { kind: 'run', arguments: { port: 9001 } }],
    ['the default for an empty PORT', [], '', { kind: 'run', arguments: { port: 8080 } }],
    [
      'no PORT that is none',
      [],
      'http',
      { kind: 'invalid', faults: ['invalid PORT "http"; expected an integer from 0 to 65535'] },
    ],
  ])('take %s', (_what, argv, PORT, parsed) => {
    expect(parseArguments(argv, '/data', { PORT })).toMatchObject(parsed);
  });

  it('lists every fault at once', () => {
    expect(parseArguments(['--port', 'x', '--probes', 'y'], '/data', {})).toMatchObject({
      faults: [expect.stringContaining('--port'), expect.stringContaining('--probes')],
    });
  });

  it('give help when asked, whatever else is there', () => {
    expect(parseArguments(['--help', '--port', 'x'], '/data', {})).toEqual({ kind: 'help' });
  });
});
