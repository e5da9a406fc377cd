import { posix } from 'node:path';

/** Sources by their path from the root of the repository. */
type Sources = ReadonlyMap<string, string>;

const DECLARED =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) +([A-Za-z_$][\w$]*)/gm;
/** A constant in capitals that a source does not export. */
const PRIVATE = /^const ([A-Z][A-Z0-9_]*)\b/gm;
const ALL_OF = /^export (?:type )?\* from '([^']+)'/gm;
const SOME_OF = /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm;

/**
 * Finds names with two meanings: a package offers the name to others, and a source outside of it exports another
 * declaration with that name, or has a constant with it.
 *
 * @param entries source of each entry of a package, by the specifier of its import
 * @returns `name: its declaration in the package <> the other one`, sorted
 */
export function findHomonyms(entries: ReadonlyMap<string, string>, sources: Sources): readonly string[] {
  const offered = new Map<string, Set<string>>();
  for (const entry of entries.values()) {
    for (const [name, file] of namesOf(entry, entries, sources)) {
      offered.set(name, (offered.get(name) ?? new Set()).add(file));
    }
  }
  const homonyms = [...sources].flatMap(([file, source]) =>
    [...declaredIn(source), ...matchesOf(PRIVATE, source)].flatMap((name) =>
      [...(offered.get(name) ?? [])]
        .filter((other) => packageOf(other) !== packageOf(file))
        .map((other) => `${name}: ${other} <> ${file}`),
    ),
  );
  return [...new Set(homonyms)].toSorted();
}

/** Names that a module exports, each with the file that declares it. */
function namesOf(
  file: string,
  entries: ReadonlyMap<string, string>,
  sources: Sources,
  seen = new Set<string>(),
): ReadonlyMap<string, string> {
  const source = sources.get(file) ?? '';
  const names = new Map<string, string>();
  if (seen.has(file)) return names;
  seen.add(file);
  const exportsOf = (specifier: string): ReadonlyMap<string, string> => {
    const target = specifier.startsWith('.')
      ? posix.join(posix.dirname(file), specifier)
      : (entries.get(specifier) ?? specifier);
    return namesOf(target, entries, sources, new Set(seen));
  };
  for (const [, specifier] of source.matchAll(ALL_OF)) {
    for (const [name, declaredAt] of exportsOf(specifier!)) names.set(name, declaredAt);
  }
  for (const [, list, specifier] of source.matchAll(SOME_OF)) {
    const all = exportsOf(specifier!);
    for (const [original, alias = original] of specifiersIn(list!)) names.set(alias, all.get(original) ?? file);
  }
  for (const name of declaredIn(source)) names.set(name, file);
  return names;
}

function declaredIn(source: string): readonly string[] {
  return matchesOf(DECLARED, source);
}

function matchesOf(pattern: RegExp, source: string): readonly string[] {
  return [...source.matchAll(pattern)].map(([, name]) => name!);
}

/** The names in a list of exports such as `a, type b, c as d`, each with its alias if it has one. */
function specifiersIn(list: string): readonly (readonly [original: string, alias?: string])[] {
  return list
    .split(',')
    .map((one) => one.trim().replace(/^type /, ''))
    .filter((one) => one !== '')
    .map((one) => one.split(/\s+as\s+/) as [string, string?]);
}

/** Folder of the package or app of a file, such as `packages/contract` or `infra/chaos`. */
function packageOf(file: string): string {
  return file.split('/', 2).join('/');
}
