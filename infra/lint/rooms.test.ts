import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { crowdedRooms, findCircles } from './rooms.ts';

const root = join(import.meta.dirname, '../..');

const files = globSync('{apps,packages}/*/{src,serve,build}/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$/.test(file),
);
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** Maximum files of a folder: a reader can survey about a dozen. */
const MOST_FILES = 14;

/** Rooms that still have too many files; the list must not grow. */
const crowded: readonly string[] = [
  'apps/standalone/src',
  'apps/web/src/views',
  'packages/agent-loop/src',
  'packages/contract/src',
  'packages/summary/src',
];

describe('the rooms', () => {
  it('are without circles and imports upward, those of types included', () => {
    expect(findCircles(sources)).toEqual([]);
  });

  it('have sub-rooms where they have more than about a dozen files', () => {
    expect(crowdedRooms(files, MOST_FILES)).toEqual(crowded);
  });

  const orderly = [
    'apps/coordinator',
    'apps/coordinator/src/admin',
    'apps/coordinator/src/checks',
    'apps/coordinator/src/checks/store',
    'apps/coordinator/src/http',
    'apps/coordinator/src/keys',
    'apps/coordinator/src/monitors',
    'apps/coordinator/src/probes',
    'apps/probe-agent',
    'packages/diagnostics',
    'packages/diagnostics/src/browser',
    'packages/diagnostics/src/sockets',
    'packages/diagnostics/src/tls',
    'packages/diagnostics/src/types/dns',
    'packages/diagnostics/src/types/http',
    'packages/diagnostics/src/types/traceroute',
    'packages/geo',
    'packages/target-policy',
    'packages/test-support',
  ];

  it.each(orderly)('%s says what comes in, what goes out and where to start', (room) => {
    const text = readFileSync(join(root, room, 'README.md'), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\.tsx?|[\w.-]+\/)`/g)].map(([, path]) => path!);
    const folder = existsSync(join(root, room, 'src')) ? join(root, room, 'src') : join(root, room);

    expect(text).toMatch(/^# .+\n\nIn: .+\nOut: .+\nStart: .+\n$/s);
    expect(named).not.toEqual([]);
    expect(named.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  });
});

describe('the rule of the rooms', () => {
  const change = (file: string, line: string): ReadonlyMap<string, string> =>
    new Map([...sources, [file, `${line}\n${sources.get(file)!}`]]);

  it.each([
    ['a value', `import { createIngest } from '../checks/ingest/ingest.ts';`],
    ['a type', `import type { Checks } from '../checks/checks.ts';`],
    ['a module that is loaded later', `const later = () => import('../checks/checks.ts');`],
  ])('sees an import upward of %s', (_what, line) => {
    const found = findCircles(change('apps/coordinator/src/redis/store.ts', line));
    const circle = found.find(({ room }) => room === 'apps/coordinator/src');

    expect(circle?.children).toEqual(expect.arrayContaining(['checks', 'redis']));
    expect(circle?.imports).toContainEqual(
      expect.stringMatching(/^apps\/coordinator\/src\/redis\/store\.ts -> .*checks/),
    );
  });

  it('sees files of one room that import each other by way of a third', () => {
    const tree = new Map([
      ['a/one.ts', `import type { Two } from './two.ts';`],
      ['a/two.ts', `export { three } from './three.ts';`],
      ['a/three.ts', `import { one } from './one.ts';`],
      ['a/four.ts', `import { one } from './one.ts';`],
    ]);

    expect(findCircles(tree).map(({ room, children }) => [room, ...children])).toEqual([
      ['a', 'one.ts', 'three.ts', 'two.ts'],
    ]);
  });

  it('sees a room that has more files than it may', () => {
    expect(crowdedRooms(['a/1.ts', 'a/2.ts', 'a/3.ts', 'a/b/1.ts'], 2)).toEqual(['a']);
  });
});
