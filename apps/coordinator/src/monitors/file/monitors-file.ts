import { createHash } from 'node:crypto';

import { escapeText } from '@vantage/contract';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type Document } from 'yaml';

import { MONITOR_NAME, type MonitorDefinition, type ReadDefinition } from '../definition.ts';

/** A fault of the file. Lines count from 1. */
export interface FileFault {
  readonly line: number;
  readonly message: string;
}

export type FileReading =
  | { readonly valid: true; readonly definitions: readonly MonitorDefinition[]; readonly digest: string }
  | { readonly valid: false; readonly faults: readonly FileFault[] };

const MOST_FAULTS = 50;

/** Characters of binary files: NUL, and U+FFFD, which replaces bytes that are not UTF-8. */
const NOT_UTF8 = /[\0\ufffd]/;

/**
 * Reads `monitors.yml`: a map `monitors` of name to monitor. Up to `MOST_FAULTS` faults are reported, with their lines.
 */
export function readMonitorsFile(text: string, readDefinition: ReadDefinition): FileReading {
  const oddLine = text.split('\n').findIndex((line) => NOT_UTF8.test(line));
  if (oddLine >= 0) return fault([{ line: oddLine + 1, message: 'is not text in UTF-8' }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false });
  const faults: FileFault[] = document.errors.map(({ pos: [at], code, message }) => ({
    line: lines.linePos(at).line,
    message: code === 'MULTIPLE_DOCS' ? 'there are several documents; expected one' : escapeText(message),
  }));
  if (faults.length > 0) return fault(faults);
  faults.push(...repeatedKeys(document, lines));
  const lineOf = (path: readonly string[]): number => lineIn(document, lines, path);
  const content = toObject(document);
  if (Error.isError(content)) return fault([...faults, { line: 1, message: escapeText(content.message) }]);
  if (!isObject(content)) return fault([...faults, { line: 1, message: 'must be an object with the field monitors' }]);
  faults.push(
    ...Object.keys(content)
      .filter((field) => field !== 'monitors')
      .map((field) => ({ line: lineOf([field]), message: `/${field} is not a known field` })),
  );
  const monitors: unknown = content['monitors'];
  if (!isObject(monitors)) return fault([...faults, { line: 1, message: '/monitors must be an object' }]);

  const definitions: MonitorDefinition[] = [];
  for (const [name, request] of Object.entries(monitors)) {
    const pointer = ['monitors', name];
    const shown = `/monitors/${escapeText(name, 80)}`;
    const reading = readDefinition(name, request);
    if (reading.valid) definitions.push(reading.definition);
    else {
      faults.push(
        ...reading.errors.map(({ path, message }) => ({
          line: lineOf([...pointer, ...path.split('/').slice(1)]),
          message: path === MONITOR_NAME ? `${shown}: the name ${message}` : `${shown}${path} ${message}`,
        })),
      );
    }
  }
  if (faults.length > 0) return fault(faults);
  return { valid: true, definitions, digest: createHash('sha256').update(text).digest('base64url') };
}

/** Finds repeated keys in little time: the parser would compare each key with all others. */
function repeatedKeys(document: Document, lines: LineCounter): readonly FileFault[] {
  const faults: FileFault[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : String(key);
        const line = isNode(key) ? lines.linePos(key.range?.[0] ?? 0).line : 1;
        if (seen.has(name)) faults.push({ line, message: `the key ${escapeText(name, 80)} is there twice` });
        seen.add(name);
      }
    },
  });
  return faults;
}

/** Returns an error if aliases expand to too much, as in a “billion laughs” document, which would fill the memory. */
function toObject(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return Error.isError(error) ? error : new Error(String(error));
  }
}

function fault(named: readonly FileFault[]): FileReading {
  // The parser reports some faults for each of the nested values that they break.
  const faults = [...new Map(named.map((one) => [`${one.line} ${one.message}`, one])).values()];
  if (faults.length <= MOST_FAULTS) return { valid: false, faults };
  const more = { line: faults[MOST_FAULTS]!.line, message: `${faults.length - MOST_FAULTS} more faults follow` };
  return { valid: false, faults: [...faults.slice(0, MOST_FAULTS), more] };
}

/** Line of a field; if it is missing, of the closest enclosing field. */
function lineIn(document: Document, lines: LineCounter, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const around = document.getIn(path.slice(0, length - 1), true);
    const own = path[length - 1]!;
    const node = isMap(around)
      ? around.items.find(({ key }) => isScalar(key) && String(key.value) === own)?.key
      : isSeq(around)
        ? around.items[Number(own)]
        : undefined;
    const at = isNode(node) ? node.range?.[0] : undefined;
    if (at !== undefined) return lines.linePos(at).line;
  }
  return 1;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
