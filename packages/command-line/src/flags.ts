import type { AnyCheckType } from '@vantage/contract';

/** What is read here of a JSON Schema. */
interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly description?: string;
}

/** A flag of one check type, made from the schema of a field of the request. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  readonly field: string;
  /** Whether the field is an option of the type or a field of the request itself. */
  readonly place: 'field' | 'option';
  readonly kind: 'text' | 'number' | 'switch' | 'pairs';
  readonly choices: readonly string[];
  readonly description: string;
  /** As it is written on the command line; undefined where there is none. */
  readonly fallback: string | undefined;
  /** True where a check cannot do without it. */
  readonly isRequired: boolean;
}

/** The fields of a type first, in their order: those may also stand behind the host without a flag. */
export function flagsOf(checkType: AnyCheckType): readonly Flag[] {
  const fields = checkType.fields as Readonly<Record<string, FieldSchema>>;
  const options = checkType.options as Readonly<Record<string, FieldSchema>>;
  return [
    ...Object.entries(fields).map(([field, schema]) => flagOf(field, 'field', schema)),
    ...Object.entries(options).map(([field, schema]) => flagOf(field, 'option', schema)),
  ];
}

function flagOf(field: string, place: Flag['place'], schema: FieldSchema): Flag {
  const { description = '', default: fallback } = schema;
  return {
    ...{ name: flagName(field), field, place, kind: kindOf(schema), description },
    choices: (schema.enum ?? []).map(String),
    fallback: ['string', 'number', 'boolean'].includes(typeof fallback) ? String(fallback) : undefined,
    isRequired: place === 'field' && fallback === undefined,
  };
}

function kindOf({ type, enum: choices }: FieldSchema): Flag['kind'] {
  if (type === 'boolean') return 'switch';
  if (type === 'object') return 'pairs';
  const isNumber = type === 'integer' || type === 'number' || choices?.every((choice) => typeof choice === 'number');
  return isNumber === true ? 'number' : 'text';
}

/** `insecureSSL` is `--insecure-ssl`. */
function flagName(field: string): string {
  return field.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
}

/** The value as JSON has it, or why it is none. What else a schema asks for the service says, with the field's name. */
export function readValue(flag: Flag, text: string): { readonly value: string | number } | { readonly fault: string } {
  if (flag.choices.length > 0 && !flag.choices.includes(text)) {
    return { fault: `--${flag.name} must be one of ${flag.choices.join(', ')}, not “${text}”` };
  }
  if (flag.kind !== 'number') return { value: text };
  return /^-?\d{1,9}(\.\d{1,9})?$/.test(text)
    ? { value: Number(text) }
    : { fault: `--${flag.name} must be a number, not “${text}”` };
}

/** Pairs are given as `Name: value` or `name=value`, each with a flag of its own. */
export function readPairs(
  flag: Flag,
  texts: readonly string[],
): { readonly value: Readonly<Record<string, string>> } | { readonly fault: string } {
  const pairs: [string, string][] = [];
  for (const text of texts) {
    const at = text.search(/[:=]/);
    if (at < 1) return { fault: `--${flag.name} must be like “Name: value”, not “${text}”` };
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return { value: Object.fromEntries(pairs) };
}
