import { nearestValue, type AnyCheckType } from '@vantage/contract';

/** The part of JSON Schema that flags depend on. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
  readonly anyOf?: readonly FieldSchema[];
  readonly const?: unknown;
}

/** A flag of a check type, derived from the schema of a request field. */
export interface Flag {
  /** Name without the leading dashes. */
  readonly name: string;
  readonly field: string;
  /** Location of the field in the request: top level or `options`. */
  readonly place: 'field' | 'option';
  readonly kind: 'text' | 'number' | 'switch' | 'pairs';
  readonly choices: readonly string[];
  /** Words that are accepted in place of a number. */
  readonly words: readonly string[];
  readonly description: string;
  /** Default as text, `true` or `false` for a switch; undefined without one, and for pairs. */
  readonly fallback: string | undefined;
  /** Permitted values or lengths in words, such as `1 to 16`; undefined without bounds. */
  readonly range: string | undefined;
  /** True for a field of the type without a default; options never are. */
  readonly isRequired: boolean;
}

/** Fields of the type first, in declaration order: except switches, they are also accepted as positional arguments. */
export function flagsOf(checkType: AnyCheckType): readonly Flag[] {
  const fields = checkType.fields as Readonly<Record<string, FieldSchema>>;
  const options = checkType.options as Readonly<Record<string, FieldSchema>>;
  return [
    ...Object.entries(fields).map(([field, schema]) => flagOf(field, 'field', schema)),
    ...Object.entries(options).map(([field, schema]) => flagOf(field, 'option', schema)),
  ];
}

function flagOf(field: string, place: Flag['place'], whole: FieldSchema): Flag {
  const { description = '', default: fallback, anyOf = [] } = whole;
  const schema = anyOf.find((branch) => branch.const === undefined) ?? whole;
  const kind = kindOf(schema);
  const others = [...anyOf.map((branch) => branch.const), ...(kind === 'number' ? (schema.enum ?? []) : [])];
  const words = others.filter((value) => typeof value === 'string');
  return {
    name: flagName(field),
    field,
    place,
    kind,
    description,
    choices: (schema.enum ?? []).map(String),
    words,
    fallback: ['string', 'number', 'boolean'].includes(typeof fallback) ? String(fallback) : undefined,
    range: rangeOf(schema, words),
    isRequired: place === 'field' && fallback === undefined,
  };
}

function rangeOf({ minimum, maximum, maxLength }: FieldSchema, words: readonly string[]): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return [`${minimum} to ${maximum}`, ...words].join(' or ');
  return maxLength === undefined ? undefined : `up to ${maxLength} characters`;
}

function kindOf({ type, enum: choices }: FieldSchema): Flag['kind'] {
  if (type === 'boolean') return 'switch';
  if (type === 'object') return 'pairs';
  const isNumber = type === 'integer' || type === 'number' || choices?.some((choice) => typeof choice === 'number');
  return isNumber === true ? 'number' : 'text';
}

/** `insecureSSL` becomes `insecure-ssl`. */
export function flagName(field: string): string {
  return field.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/**
 * Parses a value to JSON. It must be one of the choices, if there are any, and numeric for a number. The service
 * validates the rest.
 */
export function parseValue(flag: Flag, text: string): { readonly value: string | number } | { readonly fault: string } {
  if (flag.choices.length > 0 && !flag.choices.includes(text)) {
    return {
      fault: `invalid --${flag.name} "${text}"; expected one of ${flag.choices.join(', ')}${meant(text, flag.choices)}`,
    };
  }
  if (flag.kind !== 'number' || flag.words.includes(text)) return { value: text };
  return /^-?\d{1,9}(\.\d{1,9})?$/.test(text)
    ? { value: Number(text) }
    : {
        fault: `invalid --${flag.name} "${text}"; expected ${['a number', ...flag.words].join(' or ')}${meant(text, flag.words)}`,
      };
}

function meant(text: string, allowed: readonly string[]): string {
  const value = nearestValue(text, allowed);
  return value === undefined ? '' : `; did you mean "${value}"?`;
}

/** Parses pairs of `Name: value` or `name=value`, one in each text. */
export function parsePairs(
  flag: Flag,
  texts: readonly string[],
): { readonly value: Readonly<Record<string, string>> } | { readonly fault: string } {
  const pairs: [string, string][] = [];
  for (const text of texts) {
    const at = text.search(/[:=]/);
    if (at < 1) return { fault: `invalid --${flag.name} "${text}"; expected "Name: value"` };
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return { value: Object.fromEntries(pairs) };
}
