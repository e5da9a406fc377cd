import { dirname, join } from 'node:path';

/** A path named in a page, and the places where it may exist. */
export interface NamedPath {
  readonly name: string;
  readonly candidates: readonly string[];
}

const LINK = /\]\(([^)\s]+)\)/g;
const CODE = /`([^`\s]+)`/g;

/**
 * The files and folders that a page names: the targets of its links, and paths in code. In a row of a table that begins
 * with a folder, paths may also be relative to that folder; `contract` and `diagnostics/contract` are packages and
 * their entries.
 *
 * @param page its path from the root of the repository
 */
export function namedPaths(page: string, text: string): readonly NamedPath[] {
  return text.split('\n').flatMap((line) => [...linksOf(page, line), ...codeOf(line)]);
}

function linksOf(page: string, line: string): readonly NamedPath[] {
  return [...line.matchAll(LINK)].flatMap(([, target = '']) => {
    const path = target.split('#')[0]!;
    if (path === '' || /^[a-z]+:/.test(path)) return [];
    return [{ name: target, candidates: [join(dirname(page), path)] }];
  });
}

function codeOf(line: string): readonly NamedPath[] {
  const own = /^\| `([\w./-]+)` \|/.exec(line)?.[1];
  return [...line.replaceAll(/\[`[^`]*`\]\([^)]*\)/g, '').matchAll(CODE)].flatMap(([, name = '']) => {
    if (!isPath(name, own !== undefined)) return [];
    // In a row that names `checks/`, a name such as `create/` may be relative to that folder.
    const below = own === undefined ? [] : [join(own, name), join(own, 'src/**', name)];
    return [{ name, candidates: [name, ...below, join('packages', name), packageEntry(name)] }];
  });
}

/**
 * True for a text of path characters with a `/` or the extension of a source file; in a row that begins with a folder,
 * also for a lower-case word, the name of a package.
 */
function isPath(name: string, isRow: boolean): boolean {
  if (!/^[\w.-]+(\/[\w.-]+)*\/?$/.test(name)) return false;
  return /\/|\.(ts|md|mjs|json)$/.test(name) || (isRow && /^[a-z]+(-[a-z]+)*$/.test(name));
}

/** The source of an entry of a package: `packages/diagnostics/src/contract.ts` for `diagnostics/contract`. */
function packageEntry(name: string): string {
  const [folder = '', entry = ''] = name.split('/');
  return join('packages', folder, 'src', `${entry}.ts`);
}
