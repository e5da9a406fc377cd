import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import subsetFont from 'subset-font';

const range = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)).join('');

/** Basic Latin, and signs that texts of the page have. */
const BASIC = `${range(0x20, 0x7e)}\u{a0}°µ·×–—‘’“”•…↑↓−`;
/**
 * Further letters and signs, in a separate file that browsers load only if one of them is shown. System fonts show all
 * others.
 */
const MORE = `${range(0xa1, 0xff)}ıŒœ‹›€™`;

/** Writes these letters of Geist, with a part of its weights and features, to the two files of `style/font.css`. */
export async function writeFont(): Promise<void> {
  const file = createRequire(import.meta.url).resolve('@fontsource-variable/geist/files/geist-latin-wght-normal.woff2');
  const whole = readFileSync(file);
  const folder = fileURLToPath(new URL('../dist/font/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  for (const [name, letters] of Object.entries({ geist: BASIC, 'geist-more': MORE })) {
    const font = await subsetFont(whole, letters, {
      targetFormat: 'woff2',
      keepFeatures: ['kern', 'tnum', 'ccmp', 'locl'],
      variationAxes: { wght: { min: 400, max: 700 } },
    });
    writeFileSync(`${folder}${name}.woff2`, font);
  }
}
