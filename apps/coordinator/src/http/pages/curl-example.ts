import { scalarText, type JsonObject } from '../openapi/json.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

/**
 * A command that sends the request of an operation: required parameters of path and query, the example of a body or the
 * first of several, a key if one is needed.
 */
export function curlExample(publicUrl: string, { method, path, operation }: Request): string {
  const parameters = (operation['parameters'] as readonly JsonObject[] | undefined) ?? [];
  const needed = (place: string): readonly JsonObject[] =>
    parameters.filter((parameter) => parameter['in'] === place && parameter['required'] === true);
  const target = needed('path').reduce(
    (text, { name, example }) => text.replace(`{${scalarText(name)}}`, scalarText(example)),
    path,
  );
  const query = needed('query').map(
    ({ name, example }) => `${scalarText(name)}=${encodeURIComponent(scalarText(example))}`,
  );
  const url = `${publicUrl}${target}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const words = ['curl', `-${flagsFor(operation)}`];
  if (method !== 'get') words.push('-X', method.toUpperCase());
  words.push(quote(url));
  if (needsKey(operation)) words.push('-H', quote('authorization: Bearer vtg_…'));
  const body = bodyExample(operation);
  if (body !== undefined) {
    words.push('-H', quote('content-type: application/json'), '-d', quote(JSON.stringify(body)));
  }
  return words.join(' ');
}

/** Flags of curl: `-N` prints an event stream without delay, `-O` saves an image under its name. */
function flagsFor(operation: JsonObject): string {
  const media = mediaOf(operation);
  if (media.startsWith('image/')) return 'sO';
  return media === 'text/event-stream' ? 'sN' : 's';
}

function mediaOf(operation: JsonObject): string {
  const answers = operation['responses'] as JsonObject;
  const content = (answers['200'] as JsonObject | undefined)?.['content'] as JsonObject | undefined;
  return Object.keys(content ?? {})[0] ?? '';
}

/** True if the operation declares `security` and none of its alternatives is empty: requests need a key. */
function needsKey(operation: JsonObject): boolean {
  const security = operation['security'] as readonly JsonObject[] | undefined;
  return security !== undefined && security.every((each) => Object.keys(each).length > 0);
}

function bodyExample(operation: JsonObject): unknown {
  const content = (operation['requestBody'] as JsonObject | undefined)?.['content'] as JsonObject | undefined;
  const json = content?.['application/json'] as JsonObject | undefined;
  if (json === undefined) return undefined;
  const [first] = Object.values((json['examples'] as JsonObject | undefined) ?? {}) as readonly JsonObject[];
  return json['example'] ?? first?.['value'];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
