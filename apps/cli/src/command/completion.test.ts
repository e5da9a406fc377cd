import { execFileSync } from 'node:child_process';

import { describe, expect, it } from '@jest/globals';
import { checkTypeNames } from '@vantage/diagnostics/contract';

import { completionScript } from './completion.ts';
import { helpText } from '../help.ts';

/** Completions that bash offers for the last of these words. */
function offered(...words: readonly string[]): readonly string[] {
  const script = `${completionScript('bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_vantage; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}

describe('completion', () => {
  it('offers the commands', () => {
    expect(offered('vantage', '')).toEqual(expect.arrayContaining([...checkTypeNames, 'probes', 'show']));
    expect(offered('vantage', 'tr')).toEqual(['traceroute']);
  });

  it('offers the flags of the command', () => {
    expect(offered('vantage', 'ping', 'example.com', '--co')).toEqual(['--count']);
    expect(offered('vantage', 'help', 'd')).toEqual(['dns']);
    expect(offered('vantage', 'monitors', 'wa')).toEqual(['watch']);
    expect(offered('vantage', 'monitors', 'put', 'web', 'ping', 'example.com', '--ev')).toEqual(['--every']);
  });

  it('knows the same for fish and zsh', () => {
    expect(completionScript('fish')).toContain("-n '__fish_seen_subcommand_from ping' -l count");
    expect(completionScript('zsh')).toContain('bashcompinit');
  });
});

describe('the help', () => {
  it.each(checkTypeNames)('names the flags of %s', (name) => {
    expect(helpText(name)).toContain(`vantage ${name} `);
    expect(helpText(name)).toContain('--from');
  });

  it('has no line that a terminal would wrap', () => {
    const lines = [undefined, 'monitors' as const, ...checkTypeNames].flatMap((name) =>
      helpText(name).split('\n').slice(1),
    );

    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(112);
  });

  it('states the range and the default of a number', () => {
    expect(helpText('ping')).toContain('Packets to send. Range: 1 to 16. Default: 4.');
  });

  it('say what a switch that turns a default off does', () => {
    expect(helpText('http')).toMatch(/--no-screenshot\s+Do not take a screenshot of the page/);
    expect(helpText('dns')).toMatch(/--no-recursion-desired\s+Do not ask the resolver to resolve/);
  });

  it('tells apart what must be given and what may', () => {
    expect(helpText('tcp')).toContain('vantage tcp HOST PORT [flags]');
    expect(helpText('dns')).toContain('vantage dns NAME [RECORD-TYPE] [flags]');
    expect(helpText('dns')).toContain('--no-recursion-desired');
  });
});
