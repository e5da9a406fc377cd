import { brotliDecompressSync } from 'node:zlib';

import { glyphData } from './glyph-data.ts';

/** A letter as drawn: `infra/glyphs/write-glyphs.ts`. */
export interface Glyph {
  /** Distance to the next letter, pixels. */
  readonly advance: number;
  /** Position of the first row, from the start of the letter and from the baseline. */
  readonly x: number;
  readonly y: number;
  /** Coverage of each pixel from 0 to 15, a hexadecimal digit each. */
  readonly rows: readonly string[];
}

export interface GlyphStyle {
  /** Height of the font, pixels. */
  readonly size: number;
  readonly glyphs: Readonly<Record<string, Glyph>>;
}

export type StyleName = 'word' | 'name' | 'text';

let styles: Readonly<Record<StyleName, GlyphStyle>> | undefined;

/** Read when the first card is drawn. */
export function glyphStyle(name: StyleName): GlyphStyle {
  styles ??= JSON.parse(brotliDecompressSync(Buffer.from(glyphData, 'base64')).toString()) as typeof styles & object;
  return styles[name];
}

export function glyphOf({ glyphs }: GlyphStyle, character: string): Glyph {
  return (Object.hasOwn(glyphs, character) ? glyphs[character] : glyphs['□'])!;
}
