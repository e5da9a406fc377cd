import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import type { Figure } from '../goals.ts';

const KIB = 1024;

/**
 * Sizes of the files that a first visit loads, of the start page with its map, and of the page of a check with the
 * largest view of a check type: for a current browser (Brotli), and for others (gzip).
 */
export function sizes(): readonly Figure[] {
  const folder = fileURLToPath(new URL('../../../apps/web/dist/page/', import.meta.url));
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  const files = [...document.matchAll(/\.\/(assets\/[^"]+|theme\.js|icon\.svg)/g)].map(([, file]) => file!);
  const sizeOf = (file: string, coding: 'br' | 'gz'): number =>
    statSync(join(folder, file.endsWith('.woff2') ? file : `${file}.${coding}`)).size;
  // The service compresses the document itself, as it has the base address in it.
  const sent = { br: brotliCompressSync(document).length, gz: gzipSync(document).length };
  const total = (coding: 'br' | 'gz', more: readonly string[] = []): number =>
    [...files, ...more].reduce((sum, file) => sum + sizeOf(file, coding), sent[coding]) / KIB;
  const assets = readdirSync(join(folder, 'assets'));
  const script = (name: string): string =>
    `assets/${assets.find((file) => file.startsWith(`${name}-`) && file.endsWith('.js'))!}`;
  const home = importsOf(folder, script('Land'), new Set(files));
  // Files that the page of a check loads, with those of the largest view of a check type.
  const later = (coding: 'br' | 'gz'): readonly string[] => {
    const known = new Set([...files, ...home]);
    const check = importsOf(folder, script('Check'), known);
    const views = assets
      .filter((file) => /View-[^.]*\.js$/.test(file) && !file.startsWith('TypeView'))
      .map((file) => importsOf(folder, `assets/${file}`, new Set([...known, ...check])));
    const weigh = (more: readonly string[]): number => more.reduce((sum, file) => sum + sizeOf(file, coding), 0);
    return [...home, ...check, ...views.toSorted((a, b) => weigh(b) - weigh(a))[0]!];
  };
  const one = (extension: string): string =>
    files.find((file) => file.startsWith('assets/') && file.endsWith(extension))!;
  const scripts = files
    .filter((file) => /^assets\/.*\.js$/.test(file))
    .reduce((sum, file) => sum + sizeOf(file, 'br'), 0);
  return [
    { name: 'scripts, Brotli', value: scripts / KIB, unit: 'KiB' },
    { name: 'style sheet, Brotli', value: sizeOf(one('.css'), 'br') / KIB, unit: 'KiB' },
    { name: 'font', value: sizeOf(one('.woff2'), 'br') / KIB, unit: 'KiB' },
    { name: 'first load, Brotli', value: total('br', home), unit: 'KiB', atMost: 80 },
    { name: 'first load, gzip', value: total('gz', home), unit: 'KiB', atMost: 80 },
    { name: 'first load of a check, Brotli', value: total('br', later('br')), unit: 'KiB', atMost: 80 },
    { name: 'first load of a check, gzip', value: total('gz', later('gz')), unit: 'KiB', atMost: 80 },
  ];
}

/** A script and its imports, without those that are `known`, to which they are added. */
function importsOf(folder: string, file: string, known: Set<string>): readonly string[] {
  if (known.has(file)) return [];
  known.add(file);
  const imports = readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g);
  return [file, ...[...imports].flatMap(([, name]) => importsOf(folder, `assets/${name}`, known))];
}
