import type { AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

import { GENERATED, markdownTable } from './markdown.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
}

export function checkTypesPage(): string {
  return `${GENERATED}

# Check types

Generated from the schemas that validate requests and results. Durations are milliseconds. Fields common to every result:
\`result\`, \`rt\`, \`resolvedIp\`, \`error\`, \`startedAt\`, \`finishedAt\`.

${Object.values(checkTypes).map(section).join('\n')}`;
}

function section(checkType: AnyCheckType): string {
  return `## ${checkType.type}

${checkType.summary}

${part('Request', checkType.fields)}${part('Options', checkType.options)}${part('Result', { ...checkType.result, ...checkType.added })}`;
}

function part(title: string, fields: Readonly<Record<string, Schema>>): string {
  const rows = Object.entries(fields).map(([name, schema]) => [
    `\`${name}\``,
    typeName(schema),
    schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``,
    description(schema),
  ]);
  return rows.length === 0 ? '' : `${title}:\n\n${markdownTable(['field', 'type', 'default', 'meaning'], rows)}\n\n`;
}

function typeName(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${JSON.stringify(word)}\``).join(', ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeName).join(' or ');
  if (schema.type === 'array') return `array of ${schema.items === undefined ? 'anything' : typeName(schema.items)}`;
  if (schema.type === 'object') {
    const fields = Object.keys(schema.properties ?? {});
    return fields.length === 0 ? 'object' : `{ ${fields.join(', ')} }`;
  }
  const bounds = [schema.minimum, schema.maximum].filter((bound) => bound !== undefined);
  return bounds.length === 2 ? `${schema.type} ${bounds.join('…')}` : (schema.type ?? 'any');
}

/** A nullable field carries its description in the schema that is not null. */
function description(schema: Schema): string {
  return schema.description ?? schema.anyOf?.map(description).find((text) => text !== '') ?? '';
}
