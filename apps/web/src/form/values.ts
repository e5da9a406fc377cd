import { hostFor, portIn } from '@vantage/client';

import type { FormDefinition, FieldSchema } from '../../build/check-forms.ts';

/** Form values as typed; missing fields have their default. */
export type FormValues = Readonly<Record<string, string | boolean>>;

export interface Request {
  readonly type: string;
  /** Absent with `between`. */
  readonly host?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** Key of an option in `FormValues`; the key of a request field is its name. */
export function optionName(name: string): string {
  return `options.${name}`;
}

/** Sets a value. Of `probes` and `locations`, which the service refuses together, the one that was set last remains. */
export function withValue(values: FormValues, name: string, value: string | boolean): FormValues {
  const other = name === 'probes' ? 'locations' : name === 'locations' ? 'probes' : undefined;
  return { ...values, ...(other === undefined || value === '' ? {} : { [other]: '' }), [name]: value };
}

/** Builds the body of `POST /check`. Numbers that cannot be parsed are sent as text: the service reports the error. */
export function requestOf(form: FormDefinition, host: string, values: FormValues): Request {
  const fields = entriesOf(form.fields, values, (name) => name);
  const selection = entriesOf(form.selection, values, (name) => name);
  const options = entriesOf(form.options, values, optionName);
  const between = form.takesPairs ? pairIn(host) : undefined;
  const port = 'port' in form.fields && fields['port'] === undefined ? portIn(host) : undefined;
  return {
    type: form.type,
    ...(between === undefined ? { host: hostFor(form.hostKind, host) } : { between }),
    ...fields,
    ...(port === undefined ? {} : { port: Number(port) }),
    ...selection,
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/**
 * Two probes as typed in place of a host, such as `fra-1 <-> nyc-1` or `fra-1 ↔ nyc-1`; undefined for any other text.
 */
export function pairIn(host: string): readonly [string, string] | undefined {
  const [, first, second] = /^\s*([a-z0-9-]+)\s*(?:↔|<-+>)\s*([a-z0-9-]+)\s*$/.exec(host) ?? [];
  return first === undefined || second === undefined ? undefined : [first, second];
}

function entriesOf(
  schemas: Readonly<Record<string, FieldSchema>>,
  values: FormValues,
  nameOf: (name: string) => string,
): Record<string, unknown> {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, valueOf(schema, values[nameOf(name)])]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, unknown>;
}

function valueOf(schema: FieldSchema, typed: string | boolean | undefined): unknown {
  if (typed === undefined || typed === '') return undefined;
  if (typeof typed === 'boolean') return typed === schema.default ? undefined : typed;
  const text = typed.trim();
  if (schema.enum !== undefined) return schema.enum.find((choice) => String(choice) === text) ?? text;
  if (schema.type === 'integer') return /^[+-]?\d+$/.test(text) ? Number(text) : text;
  if (schema.type === 'array') return listOf(text);
  if (schema.type === 'object') return headersOf(text);
  return text;
}

export function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Parses lines of `Name: value`. */
function headersOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return colon < 0 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
  );
}

/** Form values of an earlier request, without its host. */
export function valuesOf(form: FormDefinition, request: Readonly<Record<string, unknown>>): FormValues {
  const options = (request['options'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...typedOf({ ...form.fields, ...form.selection }, request, (name) => name),
    ...typedOf(form.options, options, optionName),
  };
}

function typedOf(
  schemas: Readonly<Record<string, FieldSchema>>,
  given: Readonly<Record<string, unknown>>,
  nameOf: (name: string) => string,
): Record<string, string | boolean> {
  const entries = Object.keys(schemas).flatMap((name): [string, string | boolean][] => {
    const value = given[name];
    if (value === undefined || value === null) return [];
    return [[nameOf(name), typeof value === 'boolean' ? value : textOf(value)]];
  });
  return Object.fromEntries(entries);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return writeValue(value);
  return Object.entries(value as object)
    .map(([name, text]) => `${name}: ${String(text)}`)
    .join('\n');
}

/** Parameters that others, such as chats and advertisements, may add to links. */
const OF_CAMPAIGNS = /^(?:utm_\w+|[a-z]*clid|mc_[ce]id)$/i;

/** The parameters of a link that the form does not have, except those of campaigns. */
export function strangersIn(form: FormDefinition, query: URLSearchParams): readonly string[] {
  const known = new Set(['type', 'host', ...namesOf(form)]);
  return [...new Set(query.keys())].filter((name) => !known.has(name) && !OF_CAMPAIGNS.test(name));
}

function namesOf({ fields, selection, options }: FormDefinition): readonly string[] {
  return [...Object.keys({ ...fields, ...selection }), ...Object.keys(options).map(optionName)];
}

/** Form values in the query of a link, such as `port=443&options.count=8`. Unknown names are ignored. */
export function valuesFromQuery(form: FormDefinition, query: URLSearchParams): FormValues {
  const schemas = { ...form.fields, ...form.selection };
  const schemaOf = (name: string): FieldSchema => schemas[name] ?? form.options[name.replace(/^options\./, '')]!;
  return Object.fromEntries(
    namesOf(form).flatMap((name): [string, string | boolean][] => {
      const text = query.get(name);
      if (text === null) return [];
      return [[name, schemaOf(name).type === 'boolean' ? text !== 'false' : text]];
    }),
  );
}

/** Query of a link to the form with these values, empty ones left out; `valuesFromQuery` reads them. */
export function queryOf(type: string, host: string, values: FormValues): string {
  const entries = Object.entries(values).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));
  return `?${new URLSearchParams([['type', type], ...(host === '' ? [] : [['host', host]]), ...entries]).toString()}`;
}

/** Formats a value as a user would type it. */
export function writeValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Field for a JSON pointer of a problem document; undefined if the form does not show it. */
export function fieldAt(form: FormDefinition, pointer: string): string | undefined {
  const [name = '', inner = ''] = pointer.split('/').slice(1);
  if (name === 'between' && form.takesPairs) return 'host';
  if (name === 'host' || name in form.fields || name in form.selection) return name;
  if (name === 'options' && inner in form.options) return optionName(inner);
  return undefined;
}
