import { scalarText, type Json, type JsonObject } from '../openapi/json.ts';
import { html, inline, type Html } from './html.ts';

export interface FieldRow {
  readonly path: string;
  readonly row: Html;
}

export function rowTable(rows: readonly FieldRow[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Fields">
    <table>
      <thead>
        <tr>
          <th>Field</th>
          <th>Type</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ row }) => row)}
      </tbody>
    </table>
  </div>`;
}

/** A row for each field of an object schema; nested fields are listed by path. */
export function fieldRows(schema: JsonObject, prefix: string): readonly FieldRow[] {
  const required = new Set((schema['required'] as readonly string[] | undefined) ?? []);
  const named = Object.entries((schema['properties'] as JsonObject | undefined) ?? {});
  const fields: readonly (readonly [string, Json])[] = isMap(schema)
    ? [...named, ['<probe id>', schema['additionalProperties']!]]
    : named;
  return fields.flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = nested(field as JsonObject);
    const row = html`<tr>
      <th scope="row">
        <code>${path}</code>${required.has(name) ? html` <span class="note">required</span>` : undefined}
      </th>
      <td class="kind">${typeOf(field as JsonObject)}</td>
      <td>${meaning(field as JsonObject)}</td>
    </tr>`;
    return [{ path, row }, ...(inner === undefined ? [] : fieldRows(inner.schema, `${path}${inner.separator}`))];
  });
}

/** The object schema inside a field: the field itself, its items, or its only alternative to null. */
function nested(field: JsonObject): { readonly schema: JsonObject; readonly separator: string } | undefined {
  const chosen = alternatives(field).filter((each) => each['type'] !== 'null');
  const [only = field] = chosen.length === 1 ? chosen : [field];
  if ('properties' in only || isMap(only)) return { schema: only, separator: '.' };
  const items = only['items'] as JsonObject | undefined;
  if (items !== undefined && 'properties' in items) return { schema: items, separator: '[].' };
  return undefined;
}

/** True for a map: `propertyNames` restricts its names, and all values have one schema. */
function isMap(schema: JsonObject): boolean {
  return 'propertyNames' in schema;
}

function alternatives(field: JsonObject): readonly JsonObject[] {
  return (field['anyOf'] ?? field['oneOf'] ?? []) as readonly JsonObject[];
}

/** Name of a schema's type, with links to named schemas. */
export function typeOf(field: JsonObject): Html {
  const ref = field['$ref'];
  if (typeof ref === 'string') {
    const name = ref.split('/').at(-1) ?? ref;
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const options = alternatives(field);
  if (options.length > 0) {
    return html`${options.map((each, index) => html`${index === 0 ? '' : ' or '}${typeOf(each)}`)}`;
  }
  if ('const' in field) return html`<code>${JSON.stringify(field['const'])}</code>`;
  if (field['type'] === 'array') return html`list of ${typeOf((field['items'] as JsonObject | undefined) ?? {})}`;
  if (typeof field['type'] === 'string') return html`${field['type']}`;
  return html`${Array.isArray(field['enum']) ? 'word' : 'anything'}`;
}

function meaning(field: JsonObject): Html {
  const words = field['enum'];
  const described = field['x-enum-descriptions'];
  const list = Array.isArray(words) && !('const' in field) && described === undefined ? words.map(String) : [];
  const inner = alternatives(field).find((each) => 'description' in each) ?? field;
  const parts = [
    inline(scalarText(field['description'] ?? inner['description'])),
    list.length === 0
      ? undefined
      : html` <span class="note">One of ${inline(list.map((word) => `\`${word}\``).join(', '))}.</span>`,
    bounds(field) === '' ? undefined : html` <span class="note">${bounds(field)}</span>`,
    described === undefined ? undefined : html` <a class="note" href="#failures">The list</a>`,
  ];
  return html`${parts}`;
}

const boundNames: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minItems: 'items at least',
  maxItems: 'items at most',
  maxLength: 'characters at most',
  default: 'default',
};

function bounds(field: JsonObject): string {
  return Object.entries(boundNames)
    .filter(([key]) => key in field)
    .map(([key, name]) => `${name} ${JSON.stringify(field[key])}`)
    .join(', ');
}
