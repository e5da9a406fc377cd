import { brotliDecompressSync } from 'node:zlib';

import { glyphData } from './glyph-data.ts';

/** A rasterised glyph from `infra/glyphs/write-glyphs.ts`. */
export interface Glyph {
  /** Distance to the next glyph, pixels. */
  readonly advance: number;
  /** Offset of the upper left pixel from the pen position on the baseline: to the right and down, pixels. */
  readonly x: number;
  readonly y: number;
  /** Coverage of each pixel from 0 to 15, one hexadecimal digit each. */
  readonly rows: readonly string[];
}

export interface GlyphStyle {
  /** Height of the font, pixels. */
  readonly size: number;
  readonly glyphs: Readonly<Record<string, Glyph>>;
}

export type StyleName = 'word' | 'name' | 'text';

let styles: Readonly<Record<StyleName, GlyphStyle>> | undefined;

/** The glyphs of a style, which are decoded when they are first used. */
export function glyphStyle(name: StyleName): GlyphStyle {
  styles ??= JSON.parse(brotliDecompressSync(Buffer.from(glyphData, 'base64')).toString()) as typeof styles & object;
  return styles[name];
}

export function glyphOf({ glyphs }: GlyphStyle, character: string): Glyph {
  return (Object.hasOwn(glyphs, character) ? glyphs[character] : glyphs['□'])!;
}
