import { hasApiKey, type InputError } from '@vantage/contract';
import type { Request } from 'express';

import { HttpProblem } from '../problem.ts';
import { pointer } from './pointer.ts';
import { repeatedName } from './repeated-name.ts';
import { invalid } from './validate-request.ts';

export const MAX_BODY_BYTES = 16 * 1024;

/** Maximum nesting of a body, deeper than any valid request. */
const MAX_DEPTH = 8;

/** Names that can modify an object's prototype when copied carelessly. */
const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads a JSON body: at most `MAX_BODY_BYTES`, UTF-8, `application/json` without a content encoding. Refuses API keys
 * in it, names such as `__proto__`, deep nesting, and a name twice in one object.
 *
 * @throws HttpProblem 400, 413 or 415
 */
export async function readJson(request: Request): Promise<unknown> {
  requireJson(request);
  const text = decode(await readBody(request));
  const value = parse(text);
  const errors = isHarmless(text) ? [] : hostileParts(value);
  if (errors.length > 0) throw invalid(errors);
  const repeated = repeatedName(text);
  if (repeated !== undefined) throw invalid([{ path: pointer(repeated), message: 'is given more than once' }]);
  return value;
}

function requireJson(request: Request): void {
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (contentType === undefined) throw notJson('The request has no Content-Type; send application/json.');
  if (!isJsonType(contentType)) throw notJson('The Content-Type is not application/json in UTF-8.');
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw notJson('A body with a Content-Encoding is not accepted.');
  }
}

function notJson(detail: string): HttpProblem {
  return new HttpProblem('unsupported-media-type', detail);
}

/** A parameter of a media type (RFC 9110 section 5.6.6), its name and its value, a token or a quoted string. */
const PARAMETER = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*")/.source;
const JSON_TYPE = new RegExp(`^application/json((?:[ \\t]*;(?:${PARAMETER})?)*)[ \\t]*$`, 'i');
const UTF8_CHARSETS: ReadonlySet<string> = new Set(['utf-8', '"utf-8"', 'utf8']);

/** True for JSON in UTF-8. RFC 8259 section 11 defines no parameter, and one that clients add has no effect. */
function isJsonType(contentType: string): boolean {
  const [, parameters] = JSON_TYPE.exec(contentType.toLowerCase()) ?? [];
  if (parameters === undefined) return false;
  const pairs = parameters.matchAll(new RegExp(`;${PARAMETER}`, 'g'));
  return [...pairs].every(([, name, value]) => name !== 'charset' || UTF8_CHARSETS.has(value!));
}

function readBody(request: Request): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => {
      if (!request.complete) reject(new HttpProblem('invalid-http', 'The body ended before its time.'));
    });
    request.once('error', (cause) => reject(new HttpProblem('invalid-http', 'The body cannot be read.', { cause })));
  });
}

/** Message about a field or parameter with an API key. */
export const HAS_API_KEY = 'has an API key, which belongs in the Authorization header';

function tooLarge(): HttpProblem {
  return new HttpProblem('payload-too-large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new HttpProblem('invalid-json', 'The body is not valid UTF-8.', { cause });
  }
}

function parse(text: string): unknown {
  if (text.trim() === '') throw new HttpProblem('invalid-json', 'The body is empty; send a JSON object.');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HttpProblem('invalid-json', 'The body is not valid JSON.', { cause });
  }
}

/** Text of JSON that may have an API key, escapes and percent-encoding included, or a forbidden name. */
const HOSTILE = /[\\%]|vtg_|__proto__|constructor|prototype/i;

/** True for a text in which `hostileParts` finds nothing, so that most bodies need no walk through their values. */
function isHarmless(text: string): boolean {
  return !HOSTILE.test(text) && text.split(/[[{]/, MAX_DEPTH + 2).length <= MAX_DEPTH + 1;
}

/**
 * Finds an API key in a value, a forbidden name or too deep nesting. Iterative: a body can have thousands of levels.
 */
function hostileParts(body: unknown): readonly InputError[] {
  const queue: { readonly value: unknown; readonly path: readonly (string | number)[] }[] = [{ value: body, path: [] }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && hasApiKey(value)) {
      // Fields of a request, such as its target, are stored and sent to agents.
      return [{ path: pointer(path), message: HAS_API_KEY }];
    }
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= MAX_DEPTH) return [{ path: pointer(path), message: 'is nested too deeply' }];
    for (const [name, child] of Object.entries(value)) {
      const at = [...path, name];
      if (forbiddenNames.has(name)) return [{ path: pointer(at), message: 'is a name that is not allowed' }];
      queue.push({ value: child, path: at });
    }
  }
  return [];
}
