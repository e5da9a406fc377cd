import { requestSchema } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

/** The part of JSON Schema that the form supports. */
export interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** Words that are accepted in place of a number. */
  readonly words?: readonly string[];
}

/** Form of a check type, derived from the schemas with which the service validates requests. */
export interface FormDefinition {
  readonly type: string;
  readonly title: string;
  readonly summary: string;
  readonly hostKind: 'host' | 'url' | 'name';
  /** Fields besides the host, such as a port. */
  readonly fields: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  /** Whether two probes can be named instead of a host. */
  readonly takesPairs: boolean;
  readonly options: Readonly<Record<string, FieldSchema>>;
  /** `probes`, `locations`, `limit`: shared by all types. */
  readonly selection: Readonly<Record<string, FieldSchema>>;
}

interface Properties {
  readonly properties: Readonly<Record<string, FieldSchema & { readonly anyOf?: readonly Branch[] }>>;
  readonly required: readonly string[];
}

interface Branch extends FieldSchema {
  readonly const?: unknown;
}

/** Forms in display order. */
export function formDefinitions(): readonly FormDefinition[] {
  const order = ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'];
  const place = (type: string): number => (order.includes(type) ? order.indexOf(type) : order.length);
  return Object.values(checkTypes)
    .toSorted((a, b) => place(a.type) - place(b.type))
    .map((checkType) => {
      const { properties, required } = requestSchema(checkType, []) as unknown as Properties;
      const { type: _type, host: _host, between, options, probes, locations, limit, ...fields } = properties;
      return {
        type: checkType.type,
        title: checkType.title,
        summary: checkType.summary,
        hostKind: checkType.hostKind,
        fields,
        required,
        options: Object.fromEntries(
          Object.entries((options as unknown as Properties).properties)
            // Left out, because the page sets this option itself.
            .filter(([name]) => name !== 'endWithStream')
            .map(([name, schema]) => [name, flattened(schema)]),
        ),
        takesPairs: between !== undefined,
        selection: { locations: locations!, limit: limit!, probes: probes! },
      };
    });
}

/** Merges a union of a number and words into one field. */
function flattened({ anyOf, ...schema }: FieldSchema & { readonly anyOf?: readonly Branch[] }): FieldSchema {
  const number = anyOf?.find((branch) => branch.const === undefined);
  if (anyOf === undefined || number === undefined) return schema;
  return {
    ...number,
    ...schema,
    words: anyOf.flatMap((branch) => (typeof branch.const === 'string' ? [branch.const] : [])),
  };
}
