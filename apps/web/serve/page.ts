import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { isCheckId } from '@vantage/contract';

import { escape, metadataOf, preloadsOf, type Preview } from './document-head.ts';

/** The built page: document and files in memory, ready to send. */
export interface Page {
  /** Paths of the files, such as `/assets/index-4f3a.js`. */
  readonly files: readonly string[];
  /**
   * The document of every view.
   *
   * @param checkId adds a link to the check's results for clients without scripts, metadata for link previews, and
   *   preloads; ignored if it is not a check ID
   * @param preview texts of the metadata and title of the document
   */
  readonly document: (request: PageRequest, checkId?: string, preview?: Preview) => PageAnswer;
  /** @param path one of `files` */
  readonly file: (path: string, request: PageRequest) => PageAnswer;
}

export interface PageRequest {
  /** Value of the request header Accept-Encoding. */
  readonly acceptEncoding: string | undefined;
  /** Value of the request header If-None-Match. */
  readonly ifNoneMatch: string | undefined;
}

export interface PageAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A file or document with its encodings. */
interface Kept {
  readonly type: string;
  readonly tag: string;
  readonly cacheControl: string;
  readonly identity: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/**
 * Only files of this origin, no inline script or style, and, in browsers with Trusted Types, no markup from strings by
 * `innerHTML` and similar sinks.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "manifest-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
};

/**
 * Reads the built page.
 *
 * @param publicUrl base URL of the service, without a trailing slash
 * @returns undefined if the page has not been built
 */
export function openPage(publicUrl: string, folder: string = builtFolder()): Page | undefined {
  if (!existsSync(`${folder}index.html`)) return undefined;
  const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const kept = new Map<string, Kept>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[/\.(\w+)$/.exec(name)?.[1] ?? ''];
    if (type !== undefined) kept.set(`/${name}`, keepFile(folder, name, type));
  }
  const template = readFileSync(`${folder}index.html`, 'utf8')
    .replaceAll('"./', `"${escape(basePath)}/`)
    .replaceAll('__PUBLIC_URL__', escape(publicUrl));
  const plain = keepDocument(template.replace(CHECK_LINK, '').replace(PREVIEW, ''));

  return {
    files: [...kept.keys()],
    document: (request, checkId, preview) => {
      if (checkId === undefined || !isCheckId(checkId)) return answer(plain, request);
      const link = `<p><a href="${escape(basePath)}/check/${checkId}/results">The results of this check as JSON</a></p>`;
      const head = metadataOf(publicUrl, checkId, preview) + preloadsOf([...kept.keys()], basePath, checkId);
      // Functions, because `$` has a meaning in a replacement string.
      const document = template.replace(CHECK_LINK, () => link).replace(PREVIEW, () => head);
      if (preview === undefined) return answer(keepDocument(document), request);
      const title = `<title>${escape(preview.title)} · Vantage</title>`;
      return answer(keepDocument(document.replace(TITLE, () => title)), request);
    },
    file: (path, request) => answer(kept.get(path)!, request),
  };
}

const CHECK_LINK = '<!--check-->';
const PREVIEW = '<!--preview-->';
const TITLE = /<title>[^<]*<\/title>/;

function builtFolder(): string {
  const manifest = createRequire(import.meta.url).resolve('@vantage/web/package.json');
  return join(dirname(manifest), 'dist/page/');
}

function keepFile(folder: string, name: string, type: string): Kept {
  const identity = readFileSync(`${folder}${name}`);
  const read = (extension: string): Buffer | undefined => {
    const file = `${folder}${name}.${extension}`;
    return existsSync(file) ? readFileSync(file) : undefined;
  };
  // Files below assets/ have a content hash in their name.
  const cacheControl = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=300';
  return { type, tag: tagOf(identity), cacheControl, identity, br: read('br'), gzip: read('gz') };
}

function keepDocument(text: string): Kept {
  const identity = Buffer.from(text);
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  return {
    type: 'text/html; charset=utf-8',
    tag: tagOf(identity),
    cacheControl: 'no-cache',
    identity,
    br: brotliCompressSync(identity, { params: quality }),
    gzip: gzipSync(identity),
  };
}

function answer(kept: Kept, { acceptEncoding = '', ifNoneMatch = '' }: PageRequest): PageAnswer {
  const encoding = kept.br !== undefined && accepts(acceptEncoding, 'br') ? 'br' : gzipOr(kept, acceptEncoding);
  // Each encoding is a separate representation with its own ETag (RFC 9110 section 8.8.3.3).
  const tag = encoding === 'identity' ? `"${kept.tag}"` : `"${kept.tag}-${encoding}"`;
  const headers = {
    'Cache-Control': kept.cacheControl,
    ETag: tag,
    Vary: 'Accept-Encoding',
    ...(kept.type.startsWith('text/html')
      ? {
          'Content-Security-Policy': POLICY,
          'Cross-Origin-Opener-Policy': 'same-origin',
          'Referrer-Policy': 'no-referrer',
        }
      : {}),
  };
  if (ifNoneMatch.split(',').some((known) => known.trim().replace(/^W\//, '') === tag)) {
    return { status: 304, headers, body: Buffer.alloc(0) };
  }
  const encoded = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
  return { status: 200, headers: { ...headers, 'Content-Type': kept.type, ...encoded }, body: kept[encoding]! };
}

function gzipOr(kept: Kept, acceptEncoding: string): 'gzip' | 'identity' {
  return kept.gzip !== undefined && accepts(acceptEncoding, 'gzip') ? 'gzip' : 'identity';
}

/** True if the header (RFC 9110 section 12.5.3) lists the coding by name, with a quality other than 0. */
function accepts(acceptEncoding: string, coding: string): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

function tagOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}
