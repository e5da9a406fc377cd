import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { readFlags } from './read-flags.ts';

const flags = {
  minutes: { description: 'How long.', fallback: '5', isNumber: true },
  json: { description: 'File for the figures.' },
  quick: { description: 'Shorter.', isSwitch: true },
} as const;
const read = (...argv: readonly string[]) => readFlags('npm run -s x --', 'Does x.', flags, argv);

describe('the flags of a command', () => {
  it('have their defaults', () => {
    expect(read()).toEqual({ kind: 'values', values: { minutes: '5', json: undefined, quick: undefined } });
    expect(read('--minutes', '0.5', '--json=a', '--quick')).toEqual({
      kind: 'values',
      values: { minutes: '0.5', json: 'a', quick: 'yes' },
    });
  });

  it('are listed by --help', () => {
    const text =
      'Does x.\n\n  npm run -s x -- [flags]\n\n' +
      '  --minutes N       How long. Default: 5.\n  --json TEXT       File for the figures.\n  --quick           Shorter.\n  --help            This text.\n';

    expect(read('--help', '--minutes', 'x')).toEqual({ kind: 'end', text, status: 0 });
    expect(read('-h')).toMatchObject({ status: 0 });
  });

  it.each([
    [['--minuets', '3'], /^Unknown option '--minuets'; did you mean --minutes\?\n\nDoes x/],
    [['--minutes', 'many'], /^invalid --minutes "many"; expected a number\n\nDoes x/],
    [['--zzzzzzz'], /^Unknown option '--zzzzzzz'\n\nDoes x/],
    [['--json'], /^flag "--json" needs a value\n\nDoes x/],
    [['--minutes', '-1'], /^Option '--minutes' argument is ambiguous\.\n\nDoes x/],
    [['stray'], /^Unexpected argument 'stray'/],
  ])('are refused with the usage: %j', (argv, text) => {
    expect(read(...argv)).toEqual({ kind: 'end', text: expect.stringMatching(text), status: 2 });
  });

  it.each(['fuzz', 'chaos', 'audit'])('are those of %s', async (command) => {
    expect(await runCommand(command, '--help')).toEqual([0, expect.stringContaining('--seed N'), '']);
    expect(await runCommand(command, '--odd')).toEqual([2, '', expect.stringMatching(/^Unknown option '--odd'\n/)]);
  });

  it('are those of bench, with the names of all benchmarks', async () => {
    expect(await runCommand('bench', '--help')).toEqual([0, expect.stringMatching(/^ {2}overhead$/m), '']);
    expect(await runCommand('bench', 'overheat')).toEqual([
      2,
      '',
      expect.stringMatching(/^unknown benchmark "overheat"\n/),
    ]);
    expect(await runCommand('bench', 'tcp', '--odd')).toEqual([
      2,
      '',
      expect.stringMatching(/^Unknown option '--odd'\n/),
    ]);
    expect(await runCommand('bench', 'tcp', '--only', 'cpu')).toEqual([
      2,
      '',
      'unexpected --only for tcp; it is for agent, gateway, load, paths, web\n',
    ]);
  });
});

/** @returns status, standard output, standard error */
async function runCommand(command: string, ...args: readonly string[]): Promise<readonly [unknown, string, string]> {
  const words = ['--conditions=vantage-source', join(import.meta.dirname, '..', command, 'main.ts'), ...args];
  const { promise, resolve } = Promise.withResolvers<readonly [unknown, string, string]>();
  execFile(process.execPath, words, { env: { ...process.env, NODE_OPTIONS: '' } }, (error, out, err) =>
    resolve([error?.code ?? 0, out, err]),
  );
  return promise;
}
