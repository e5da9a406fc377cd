import { requestSchema } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

/** A JSON Schema as far as the form reads it. */
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
}

/** What the page knows of a check type: made from the schemas that the service validates with. */
export interface CheckForm {
  readonly type: string;
  readonly title: string;
  readonly summary: string;
  readonly hostKind: 'host' | 'url' | 'name';
  /** Fields beside the host, such as a port. */
  readonly fields: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly options: Readonly<Record<string, FieldSchema>>;
  /** `probes`, `locations`, `limit`: the same for every type. */
  readonly selection: Readonly<Record<string, FieldSchema>>;
}

interface Properties {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
}

/** The forms in the order in which the page offers them. */
export function checkForms(): readonly CheckForm[] {
  const order = ['ping', 'http', 'dns', 'tcp', 'udp', 'traceroute', 'info'];
  const place = (type: string): number => (order.includes(type) ? order.indexOf(type) : order.length);
  return Object.values(checkTypes)
    .toSorted((a, b) => place(a.type) - place(b.type))
    .map((checkType) => {
      const { properties, required } = requestSchema(checkType, []) as unknown as Properties;
      const { type: _type, host: _host, options, probes, locations, limit, ...fields } = properties;
      return {
        type: checkType.type,
        title: checkType.title,
        summary: checkType.summary,
        hostKind: checkType.hostKind,
        fields,
        required,
        options: (options as unknown as Properties).properties,
        selection: { locations: locations!, limit: limit!, probes: probes! },
      };
    });
}
