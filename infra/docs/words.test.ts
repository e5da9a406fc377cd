import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { anchorsOf, banned, findBanned, findRiddles, proseOf, textOf } from './words.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const pages = globSync(['*.md', 'docs/**/*.md', '{apps,packages,infra}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
}).toSorted();

const sources = globSync('{apps,packages,infra}/**/*.{ts,tsx,mjs}', {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
}).filter((file) => !file.startsWith('infra/docs/words'));

const violations = (files: readonly string[], text: (content: string) => string): readonly string[] =>
  files.flatMap((file) => findBanned(text(read(file))).map(({ line, word }) => `${file}:${line} ${word}`));

describe('the words of the glossary', () => {
  it('hold in every page', () => {
    expect(violations(pages, proseOf)).toEqual([]);
  });

  it('hold in comments, strings and names of the sources', () => {
    expect(violations(sources, textOf)).toEqual([]);
  });

  it('are those that the glossary lists', () => {
    const glossary = read('docs/terms.md');

    expect(banned.filter(({ word }) => !glossary.includes(`\`${word}\``))).toEqual([]);
  });

  it.each([
    'They start anew.',
    'It so befell.',
    'A test beside the code.',
    'It ends by itself.',
    'Kept for ever.',

    'A context is lent.',
    'Nobody waits.',
    'Whoever asks.',
    'It shall end.',
    'The photographer of a check.',
    'After a standstill.',
    'The function judgeResult.',
    'A reader is told.',
    'A client of ours.',
    'Each has a key of its own.',
    'A phrase over lines, by\n   * itself.',
  ])('would fail for: %s', (sentence) => {
    expect(findBanned(textOf(`/**\n * ${sentence}\n */`))).toHaveLength(1);
    expect(findBanned(proseOf(sentence.replace('* ', '')))).toHaveLength(1);
  });

  it('do not reach into code of a page', () => {
    expect(findBanned(proseOf('Say `anew`.\n```sh\necho beside\n```\nSee [it](beside.md).'))).toEqual([]);
  });
});

describe('the headings', () => {
  it('are nouns or tasks', () => {
    expect(pages.flatMap((page) => findRiddles(read(page)).map((heading) => `${page}: ${heading}`))).toEqual([]);
  });

  it.each(['## Who is feared', '# What is promised', '### How it is tried', '## When it is not enough'])(
    'would fail for: %s',
    (heading) => {
      expect(findRiddles(`text\n${heading}\n`)).toEqual([heading]);
    },
  );

  it('may name a task', () => {
    expect(findRiddles('## How to add a probe\n## Whole numbers')).toEqual([]);
  });
});

describe('the links between pages', () => {
  it('lead to files and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
        const [path = '', anchor] = target.split('#');
        if (/^[a-z]+:/.test(path)) return [];
        const file = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(root, file))) return [`${page}: ${target}`];
        if (anchor === undefined || anchorsOf(read(file)).has(anchor)) return [];
        return [`${page}: ${target}`];
      }),
    );

    expect(broken).toEqual([]);
  });
});
