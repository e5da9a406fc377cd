import type { JsonObject } from '../openapi/json.ts';
import { html, prose, type Html } from './html.ts';
import { fieldRows, rowTable, typeOf, type FieldRow } from './schema-table.ts';

/**
 * Share of equal fields, among those of the larger schema, from which a schema is described by its differences from
 * another.
 */
const ALIKE = 0.8;
/** Schemas with fewer fields are shown whole. */
const LEAST_FIELDS = 8;

interface Known {
  readonly name: string;
  /** Markup of each field, by its path. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The schemas, each folded. One that shares most fields with an earlier one lists its differences only. */
export function schemaSections(schemas: readonly (readonly [name: string, schema: JsonObject])[]): Html {
  const known: Known[] = [];
  const sections = schemas.map(([name, schema]) => {
    const rows = fieldRows(schema, '');
    const fields = new Map(rows.map(({ path, row }) => [path, row.markup]));
    const base = baseOf(rows, known);
    if (base === undefined) known.push({ name, fields });
    return section(name, schema, base === undefined ? whole(schema, rows) : differences(rows, fields, base));
  });
  return html`${sections}`;
}

function baseOf(rows: readonly FieldRow[], known: readonly Known[]): Known | undefined {
  if (rows.length < LEAST_FIELDS) return undefined;
  const shared = ({ fields }: Known): number =>
    rows.filter(({ path, row }) => fields.get(path) === row.markup).length / Math.max(rows.length, fields.size);
  const [best] = known.toSorted((one, other) => shared(other) - shared(one));
  return best !== undefined && shared(best) >= ALIKE ? best : undefined;
}

function section(name: string, schema: JsonObject, body: Html): Html {
  const description = schema['description'];
  return html`<details id="schema-${name}">
    <summary>${name}</summary>
    ${typeof description === 'string' ? prose(description) : undefined} ${body}
  </details>`;
}

function whole(schema: JsonObject, rows: readonly FieldRow[]): Html {
  if (rows.length > 0) return rowTable(rows);
  return html`<p>${typeOf(schema)}.</p>`;
}

function differences(rows: readonly FieldRow[], fields: ReadonlyMap<string, string>, base: Known): Html {
  const changed = rows.filter(({ path, row }) => base.fields.get(path) !== row.markup);
  const absent = [...base.fields.keys()].filter((path) => !fields.has(path));
  const names = absent.map((path, index) => html`${index === 0 ? '' : ', '}<code>${path}</code>`);
  return html`<p>
      The fields of
      <a href="#schema-${base.name}">${base.name}</a
      >${absent.length === 0 ? '' : html` without ${names}`}${changed.length === 0 ? '.' : ', and:'}
    </p>
    ${changed.length === 0 ? undefined : rowTable(changed)}`;
}
