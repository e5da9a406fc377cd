import type { CheckOf } from '@vantage/client';
import { publicResultSchema, type AnyCheckType } from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';

/** The parts of JSON Schema in which results are described. */
interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/**
 * Columns of the results of a check as CSV. They depend on the type of the check and on whether it measures both
 * families, not on the results, so that rows of several checks have the same columns.
 */
export function tableColumns({ type, request }: Pick<CheckOf<CheckTypeName>, 'type' | 'request'>): readonly string[] {
  if (!isCheckTypeName(type)) return [];
  const options: Readonly<Record<string, unknown>> = { ...request?.options };
  const columns = columnsIn(publicResultSchema(checkTypes[type] as AnyCheckType), '');
  return [...new Set(columns)].filter(
    (name) => name !== 'screenshot' && (options['family'] === 'both' || !name.startsWith('otherFamily.')),
  );
}

/**
 * One column per scalar, per list of scalars or pairs, and per object whose property names the schema does not list.
 * Hops have one for their number; other lists of objects, except answers, have none.
 */
function columnsIn({ type, anyOf, properties, items }: Schema, path: string): readonly string[] {
  if (anyOf !== undefined) return anyOf.flatMap((each) => columnsIn(each, path));
  if (type === 'null') return [];
  if (type === 'array' && /^(otherFamily\.)?hops$/.test(path)) return [path.replace('hops', 'hopCount')];
  if (properties !== undefined) {
    const prefix = path === '' ? '' : `${path}.`;
    return Object.entries(properties).flatMap(([name, schema]) => columnsIn(schema, `${prefix}${name}`));
  }
  const isList = type === 'array' && isObject(items) && !/^(otherFamily\.)?answers$/.test(path);
  return isList ? [] : [path];
}

function isObject(schema: Schema | undefined): boolean {
  return schema?.properties !== undefined || schema?.anyOf?.some(isObject) === true;
}
