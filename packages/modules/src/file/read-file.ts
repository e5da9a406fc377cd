import { LineCounter, parseAllDocuments, type Node } from 'yaml';

import type { Decoding, ModuleFault } from './decode.ts';
import { modulesFile, type RawModule } from './shape.ts';

/**
 * Characters that YAML forbids, and some that it allows: U+0085, U+2028 and U+2029 are line breaks in the YAML 1.1 of
 * blackbox_exporter and text in the YAML 1.2 of this parser, and U+FFFD replaces bytes that are not UTF-8.
 */
const REFUSED = /[^\P{Cc}\t\n\r]|[\u2028\u2029\ufffd-\uffff]/u;

export interface RawFile {
  /** Modules by name, in the order of the file. */
  readonly modules: ReadonlyMap<string, RawModule>;
  /** Line of a key below a decoded mapping. */
  readonly lineOf: (owner: object, key: string) => number;
}

export type FileReading =
  | { readonly ok: true; readonly file: RawFile }
  | { readonly ok: false; readonly faults: readonly ModuleFault[] };

/** Parses a `blackbox.yml` by the rules of blackbox_exporter, but refuses some characters (`REFUSED`). */
export function readFile(text: string): FileReading {
  const oddLine = text.split('\n').findIndex((line) => REFUSED.test(line));
  if (oddLine >= 0)
    return {
      ok: false,
      faults: [{ line: oddLine + 1, message: 'has a control character, a line separator or bytes that are not UTF-8' }],
    };
  const counter = new LineCounter();
  // Keys that are there twice are found while decoding: the parser would compare each key with all others.
  const parsed = parseAllDocuments(text, { lineCounter: counter, merge: true, prettyErrors: false, uniqueKeys: false });
  const document = 'empty' in parsed ? undefined : parsed[0];
  // A document with only comments has neither content nor a marker: Go's decoder reports the end of the file.
  if (document === undefined || (document.contents === null && !/^---/m.test(text))) {
    return { ok: false, faults: [{ line: 1, message: 'the file is empty' }] };
  }
  const errors = document.errors.map(({ pos, message }) => ({ line: counter.linePos(pos[0]).line, message }));
  // The parser of blackbox_exporter knows YAML 1.1 only.
  const versionLine = text.split('\n').findIndex((line) => /^%YAML (?!1\.1\s*$)/.test(line));
  if (versionLine >= 0) errors.push({ line: versionLine + 1, message: 'must not be declared as other than YAML 1.1' });
  // The parser reports some faults once for each nested value that they break.
  const distinct = [...new Map(errors.map((error) => [`${error.line} ${error.message}`, error])).values()];
  if (distinct.length > 0) return { ok: false, faults: distinct };

  const decoding: Decoding = {
    counter,
    faults: [],
    lines: new WeakMap(),
    resolve: (node) =>
      'source' in node ? (node as { resolve: (of: unknown) => Node | undefined }).resolve(document) : node,
  };
  const { contents } = document;
  const isNull = contents === null || ('value' in contents && contents.value === null);
  const decoded = isNull ? {} : modulesFile(contents, decoding);
  if (decoding.faults.length > 0 || decoded === undefined) return { ok: false, faults: decoding.faults };
  return {
    ok: true,
    file: {
      modules: decoded.modules ?? new Map<string, RawModule>(),
      lineOf: (owner, key) => decoding.lines.get(owner)?.get(key) ?? 1,
    },
  };
}
