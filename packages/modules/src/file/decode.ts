import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from 'yaml';

export interface ModuleFault {
  /** Line number, from 1. */
  readonly line: number;
  readonly message: string;
}

/** State of the decoding of one file. */
export interface Decoding {
  readonly counter: LineCounter;
  /** The node that an alias refers to; any other node itself. */
  readonly resolve: (node: Node) => Node | undefined;
  readonly faults: ModuleFault[];
  /** Lines of the keys of each decoded mapping. */
  readonly lines: WeakMap<object, ReadonlyMap<string, number>>;
}

/** Decodes a node that is not null; undefined after a fault. */
export type Kind<T> = (node: Node, decoding: Decoding) => T | undefined;

export type ValueOf<K> = K extends Kind<infer T> ? T : never;

export type Fields = Readonly<Record<string, Kind<unknown>>>;

export type Struct<F extends Fields> = { readonly [Name in keyof F]?: ValueOf<F[Name]> };

export function lineOf(node: Node, { counter }: Decoding): number {
  return counter.linePos(node.range?.[0] ?? 0).line;
}

export function fail(node: Node, decoding: Decoding, message: string): undefined {
  decoding.faults.push({ line: lineOf(node, decoding), message });
}

/**
 * A fault of a mapping and the keys that it concerns. Its line is that of the first key, or of the mapping if the key
 * is absent.
 */
export type KeyFault = readonly [keys: readonly string[], message: string];

/**
 * A mapping with known keys only. A null value leaves the key absent.
 *
 * @param check its faults are left out if one of their keys has a faulty value
 */
export function struct<F extends Fields>(
  fields: F,
  check: (value: Struct<F>) => readonly KeyFault[] = () => [],
): Kind<Struct<F>> {
  return (node, decoding) => {
    const entries = entriesOf(node, decoding);
    if (entries === undefined) return undefined;
    const faulty = new Set<string>();
    const value: Record<string, unknown> = {};
    const lines = new Map<string, number>();
    for (const { key, keyNode, valueNode } of entries) {
      const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (kind === undefined) {
        fail(keyNode, decoding, `unknown field "${key}"; expected one of ${Object.keys(fields).join(', ')}`);
        continue;
      }
      lines.set(key, lineOf(keyNode, decoding));
      const before = decoding.faults.length;
      const decoded = valueNode === undefined ? undefined : kind(valueNode, decoding);
      if (decoding.faults.length > before) faulty.add(key);
      if (decoded !== undefined) value[key] = decoded;
    }
    for (const [keys, message] of check(value as Struct<F>)) {
      if (keys.some((key) => faulty.has(key))) continue;
      decoding.faults.push({ line: lines.get(keys[0] ?? '') ?? lineOf(node, decoding), message });
    }
    decoding.lines.set(value, lines);
    return value as Struct<F>;
  };
}

/**
 * A mapping with keys of the operator's choice.
 *
 * @param absent the value of a key with null
 */
export function mapOf<T>(kind: Kind<T>, absent: T): Kind<ReadonlyMap<string, T>> {
  return (node, decoding) => {
    const entries = entriesOf(node, decoding);
    if (entries === undefined) return undefined;
    const lines = new Map<string, number>();
    const value = new Map<string, T>();
    for (const { key, keyNode, valueNode } of entries) {
      lines.set(key, lineOf(keyNode, decoding));
      const decoded = valueNode === undefined ? absent : kind(valueNode, decoding);
      if (decoded !== undefined) value.set(key, decoded);
    }
    decoding.lines.set(value, lines);
    return value;
  };
}

export function listOf<T>(kind: Kind<T>): Kind<readonly T[]> {
  return (node, decoding) => {
    if (!isSeq(node)) return fail(node, decoding, 'must be a list');
    return (node.items as readonly Node[]).flatMap((item) => {
      const resolved = valueNodeOf(item, decoding);
      const decoded = resolved === undefined ? undefined : kind(resolved, decoding);
      return decoded === undefined ? [] : [decoded];
    });
  };
}

/** @param parse throws an error for invalid text */
export function scalar<T>(parse: (text: string, value: unknown, isPlain: boolean) => T): Kind<T> {
  return (node, decoding) => {
    if (!isScalar(node)) return fail(node, decoding, 'must be a single value');
    const text = node.type === 'PLAIN' ? (node.source ?? String(node.value)) : String(node.value);
    try {
      return parse(text, node.value, node.type === 'PLAIN');
    } catch (error) {
      return fail(node, decoding, Error.isError(error) ? error.message : String(error));
    }
  };
}

interface Entry {
  readonly key: string;
  readonly keyNode: Node;
  /** Undefined for null. */
  readonly valueNode: Node | undefined;
}

function entriesOf(node: Node, decoding: Decoding): readonly Entry[] | undefined {
  if (!isMap(node)) return fail(node, decoding, 'must be a mapping');
  if (node.items.some(({ key }) => !isScalar(key))) return fail(node, decoding, 'a key must be a single value');
  noteRepeated(
    node.items.map(({ key }) => key as Node),
    decoding,
  );
  const own = node.items.filter(({ key }) => !isMergeKey(key));
  const names = new Set(own.map(({ key }) => keyText(key)));
  const merged = node.items
    .filter(({ key }) => isMergeKey(key))
    .flatMap(({ value }) => mergedEntries(value as Node, decoding))
    .filter(({ key }) => !names.has(key));
  return [
    ...own.map(({ key, value }) => ({
      key: keyText(key),
      keyNode: key as Node,
      valueNode: value === null ? undefined : valueNodeOf(value as Node, decoding),
    })),
    ...merged,
  ];
}

function noteRepeated(keys: readonly Node[], decoding: Decoding): void {
  const seen = new Set<string>();
  for (const key of keys) {
    const name = keyText(key);
    if (seen.has(name)) fail(key, decoding, `the key "${name}" is there twice`);
    seen.add(name);
  }
}

function mergedEntries(value: Node, decoding: Decoding): readonly Entry[] {
  const target = valueNodeOf(value, decoding);
  if (isSeq(target)) return (target.items as readonly Node[]).flatMap((item) => mergedEntries(item, decoding));
  if (isMap(target)) return entriesOf(target, decoding) ?? [];
  fail(value, decoding, 'a merge takes a mapping, or a list of mappings');
  return [];
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

function keyText(key: unknown): string {
  return isScalar(key) ? (key.type === 'PLAIN' ? (key.source ?? String(key.value)) : String(key.value)) : String(key);
}

function valueNodeOf(node: Node, decoding: Decoding): Node | undefined {
  const resolved = isAlias(node) ? decoding.resolve(node) : node;
  if (resolved === undefined) return fail(node, decoding, 'the anchor of the alias is unknown');
  return isScalar(resolved) && resolved.value === null ? undefined : resolved;
}
