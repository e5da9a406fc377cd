import { glyphOf, glyphStyle, type StyleName } from './glyphs.ts';

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [number, number, number];

/** Anti-aliasing levels per colour. */
const LEVELS = 16;

/**
 * An image of indexed pixels: each colour has `LEVELS` entries in the palette, from the background to the colour
 * itself.
 */
export interface Canvas {
  readonly pixels: Buffer;
  readonly palette: Buffer;
  readonly fill: (x: number, y: number, width: number, height: number, colour: number) => void;
  /** Draws one line of text. @param y baseline */
  readonly write: (x: number, y: number, text: string, style: StyleName, colour: number) => void;
}

/** @param colours referred to by index */
export function createCanvas(width: number, height: number, paper: Colour, colours: readonly Colour[]): Canvas {
  const pixels = Buffer.alloc(width * height);
  const mixed = colours.flatMap((colour) =>
    Array.from({ length: LEVELS }, (_, level) =>
      paper.map((from, part) => Math.round(from + ((colour[part]! - from) * level) / (LEVELS - 1))),
    ),
  );
  return {
    pixels,
    palette: Buffer.from(mixed.flat()),
    fill: (x, y, across, down, colour) => {
      for (let row = y; row < y + down; row += 1) {
        pixels.fill(colour * LEVELS + LEVELS - 1, row * width + x, row * width + x + across);
      }
    },
    write: (x, y, text, style, colour) => {
      let at = x;
      for (const character of text) {
        const glyph = glyphOf(glyphStyle(style), character);
        const [left, top] = [Math.round(at) + glyph.x, y + glyph.y];
        for (const [down, row] of glyph.rows.entries()) {
          for (let across = 0; across < row.length; across += 1) {
            const level = Number.parseInt(row[across]!, LEVELS);
            // Glyphs may overlap: the one with more coverage of the pixel wins.
            const pixel = (top + down) * width + left + across;
            if (level > pixels[pixel]! % LEVELS) pixels[pixel] = colour * LEVELS + level;
          }
        }
        at += glyph.advance;
      }
    },
  };
}
