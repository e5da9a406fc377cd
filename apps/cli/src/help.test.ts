import { describe, expect, it } from '@jest/globals';
import { checkTypeNames } from '@vantage/diagnostics/contract';

import { helpTopics } from './command/help-topics.ts';
import { helpText } from './help.ts';

const topics = [undefined, ...checkTypeNames, ...helpTopics];

describe('the help', () => {
  it.each(
    topics.flatMap((topic) => [60, 80, 200].map((columns) => [topic ?? 'of the program', columns, topic] as const)),
  )('%s fits a terminal of %i columns', (_name, columns, topic) => {
    const lines = helpText(topic, columns).trimEnd().split('\n');

    // Text to be typed, such as a command, stays on one line and may be longer.
    const isTyped = (line: string): boolean => /^ {2}(--\S+ [^ ]+|vantage .*)$/.test(line);
    expect(lines.filter((line) => line.length > Math.min(columns, 80) && !isTyped(line))).toEqual([]);
  });

  it('of each command is about that command', () => {
    for (const topic of [...checkTypeNames, ...helpTopics]) expect(helpText(topic)).toContain(`\n  vantage ${topic}`);
  });

  it('of mtr has its rounds, of traceroute none', () => {
    const roundsOf = (topic: 'mtr' | 'traceroute'): string =>
      /--rounds N[\s\S]*?(?=\n {2}--)/.exec(helpText(topic))![0].replaceAll(/\s+/g, ' ');

    expect(roundsOf('mtr')).toMatch(/ Default: 10\.$/);
    expect(roundsOf('traceroute')).not.toContain('Default');
  });
});
