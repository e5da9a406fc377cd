import { escapeText, nearestValue, nearestWord, textForm, type FieldPaths, type InputError } from '@vantage/contract';
import type { ErrorObject } from 'ajv';

import { pointer, pointerParts } from './pointer.ts';

const MAX_ERRORS = 20;

/** Converts errors of ajv to pointers into the body and sentences without a subject, such as "is required". */
export function inputErrors(errors: readonly ErrorObject[]): readonly InputError[] {
  return withoutRepeats(withoutBranches(withoutLengths(errors)));
}

/** Removes repeated errors in linear time: a body of 16 KiB can have thousands of errors. */
function withoutRepeats(errors: readonly InputError[]): readonly InputError[] {
  const unique = new Map(errors.map((error) => [`${error.path}\n${error.message}`, error]));
  return [...unique.values()];
}

/** The errors of an answer: each once, and at most `MAX_ERRORS`; the last one then counts those left out. */
export function boundedErrors(errors: readonly InputError[]): readonly InputError[] {
  const unique = withoutRepeats(errors);
  if (unique.length <= MAX_ERRORS) return unique;
  const more = { path: '', message: `has ${unique.length - MAX_ERRORS + 1} more errors` };
  return [...unique.slice(0, MAX_ERRORS - 1), more];
}

/** The fields that errors are about, as pointers: fields of the body, and each option separately. */
export function brokenFields(errors: readonly InputError[]): FieldPaths {
  return new Set(
    errors.flatMap(({ path }) => {
      const [, field = '', below] = path.split('/');
      return below === undefined || field !== 'options' ? [`/${field}`] : [`/${field}/${below}`];
    }),
  );
}

/** Omits the wrong length of a text that also has the wrong form: one error is then enough. */
function withoutLengths(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const odd = new Set(errors.filter(({ keyword }) => keyword === 'pattern').map(({ instancePath }) => instancePath));
  return errors.filter(
    ({ keyword, instancePath }) => (keyword !== 'maxLength' && keyword !== 'minLength') || !odd.has(instancePath),
  );
}

/** Makes one error of those of a union of values and its branches, with the messages of the branches. */
function withoutBranches(errors: readonly ErrorObject[]): readonly InputError[] {
  const joined = new Set<ErrorObject>();
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  const branchesOf = ({ instancePath, schemaPath }: ErrorObject): readonly ErrorObject[] =>
    errors.filter((error) => error.instancePath === instancePath && error.schemaPath.startsWith(`${schemaPath}/`));
  for (const branch of unions.flatMap(branchesOf)) joined.add(branch);
  return errors
    .filter((error) => !joined.has(error))
    .map((error) => {
      const branches = error.keyword === 'anyOf' ? branchesOf(error).filter(isClearest).map(inputError) : [];
      const [first, ...others] = branches;
      if (first === undefined) return inputError(error);
      const more = others.map(({ message }) => message.replace(/^must be /, ''));
      return { path: first.path, message: [first.message, ...more].join(' or ') };
    });
}

/** False for a type error of a branch that allows a single value: the error about the value is more specific. */
function isClearest({ keyword, parentSchema }: ErrorObject): boolean {
  return keyword !== 'type' || !Object.hasOwn(parentSchema ?? {}, 'const');
}

function inputError(error: ErrorObject): InputError {
  const at = pointerParts(error.instancePath);
  const params = error.params as Readonly<Record<string, unknown>>;
  const form = textForm(error.parentSchema?.['pattern']);
  switch (error.keyword) {
    case 'required':
      return { path: pointer([...at, String(params['missingProperty'])]), message: 'is required' };
    case 'additionalProperties': {
      const name = String(params['additionalProperty']);
      return { path: pointer([...at, name]), message: unknownField(name, error.parentSchema) };
    }
    case 'enum':
      return { path: pointer(at), message: `must be ${choiceText(params['allowedValues'] as unknown[], error.data)}` };
    case 'const':
      return { path: pointer(at), message: `must be ${JSON.stringify(params['allowedValue'])}` };
    case 'type':
      return {
        path: pointer(at),
        message: `must be ${form ?? describeType(String(params['type']), error.parentSchema)}`,
      };
    case 'pattern':
      return { path: pointer(at), message: form === undefined ? oddText(params) : `must be ${form}` };
    case 'uniqueItems':
      return { path: pointer(at), message: 'must not have the same item twice' };
    default:
      return { path: pointer(at), message: sizeMessage(error.message, params) ?? `breaks the rule ${error.keyword}` };
  }
}

/** The allowed values, and the one that was probably meant. */
export function choiceText(allowed: readonly unknown[], given: unknown): string {
  const meant = nearestValue(given, allowed);
  const shown = typeof allowed.find((value) => String(value) === meant) === 'string' ? `“${meant}”` : meant;
  return `one of ${allowed.join(', ')}${meant === undefined ? '' : `; did you mean ${shown}?`}`;
}

/** The message of ajv, of which `must NOT have more than 2 items` and its like are reworded. */
function sizeMessage(message: string | undefined, { limit }: ErrorObject['params']): string | undefined {
  if (limit === 1 && message?.includes('fewer than') === true) return 'must not be empty';
  return message?.replace('NOT have more than', 'have at most').replace('NOT have fewer than', 'have at least');
}

function oddText({ pattern }: ErrorObject['params']): string {
  return `must match the pattern ${String(pattern)}`;
}

function unknownField(name: string, schema: ErrorObject['parentSchema']): string {
  const properties: unknown = schema?.['properties'];
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const nearest = nearestWord(name, known);
  const shown = escapeText(name, 64);
  return nearest === undefined
    ? `is not a known field: “${shown}”`
    : `is not a known field: “${shown}”; did you mean “${nearest}”?`;
}

function describeType(type: string, { minimum, maximum }: NonNullable<ErrorObject['parentSchema']> = {}): string {
  const isBounded = typeof minimum === 'number' && typeof maximum === 'number';
  return isBounded ? `${article(type)} from ${minimum} to ${maximum}` : article(type);
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
