import { requestSchema, type AnyCheckType } from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';

/** The part of JSON Schema that the form needs; the service validates. */
export interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
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

/** Descriptions of the fields and options of forms, by check type and name. */
export type OptionHints = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Properties {
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
}

interface Property extends FieldSchema {
  readonly description?: string;
  readonly anyOf?: readonly Branch[];
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
      const { fields, options, selection, required, takesPairs } = partsOf(checkType);
      return {
        type: checkType.type,
        title: checkType.title,
        summary: checkType.summary,
        hostKind: checkType.hostKind,
        fields: fieldsOf(fields),
        required,
        options: fieldsOf(options),
        takesPairs,
        selection: fieldsOf(selection),
      };
    });
}

/** The hints of all forms. They are loaded only when the options are opened. */
export function optionHints(): OptionHints {
  return Object.fromEntries(
    Object.values<AnyCheckType>(checkTypes).map((checkType) => {
      const { fields, options, selection } = partsOf(checkType);
      const hints = Object.entries({ ...fields, ...selection, ...options }).map(([name, { description = '' }]) => [
        name,
        description,
      ]);
      return [checkType.type, Object.fromEntries(hints) as Record<string, string>];
    }),
  );
}

type Fields = Readonly<Record<string, Property>>;

function partsOf(checkType: AnyCheckType): {
  readonly fields: Fields;
  readonly options: Fields;
  readonly selection: Fields;
  readonly required: readonly string[];
  readonly takesPairs: boolean;
} {
  const { properties, required } = requestSchema(checkType, []) as unknown as Properties;
  const { type: _type, host: _host, between, options, probes, locations, limit, ...fields } = properties;
  // Left out, because the page sets this option itself.
  const { endWithStream: _, ...shown } = (options as unknown as Properties).properties;
  const selection = { locations: locations!, limit: limit!, probes: probes! };
  return { fields, options: shown, selection, required, takesPairs: between !== undefined };
}

function fieldsOf(properties: Fields): Readonly<Record<string, FieldSchema>> {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, fieldOf(property)]));
}

/** The field of a property; a union of a number and words becomes one field. */
function fieldOf({ anyOf, ...property }: Property): FieldSchema {
  const number = anyOf?.find((branch) => branch.const === undefined);
  const { type, enum: choices, default: standard, examples } = { ...number, ...property };
  const words =
    number === undefined
      ? undefined
      : anyOf?.flatMap((branch) => (typeof branch.const === 'string' ? [branch.const] : []));
  const field = { type, enum: choices, default: standard, examples, words };
  return Object.fromEntries(Object.entries(field).filter(([, value]) => value !== undefined));
}
