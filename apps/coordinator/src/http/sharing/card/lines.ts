import { shortened } from '../shortened.ts';
import { glyphOf, glyphStyle, type StyleName } from './glyphs.ts';

/** Width of a line in pixels. */
export function widthOf(text: string, style: StyleName): number {
  return Array.from(text).reduce((sum, character) => sum + glyphOf(glyphStyle(style), character).advance, 0);
}

/**
 * Wraps a text between words, except between a number and its unit, and within a word that is wider than a line. Ends
 * with `…` if it exceeds the number of lines.
 *
 * @param width of a line in pixels
 */
export function linesOf(text: string, style: StyleName, width: number, most: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )(?!(?<=\d )(?:ms|s|%)(?![a-z]))/)) {
    for (const part of widthOf(word.trimEnd(), style) > width ? Array.from(word) : [word]) {
      if (line !== '' && widthOf((line + part).trimEnd(), style) > width) {
        lines.push(line.trimEnd());
        line = '';
      }
      line += part;
    }
  }
  lines.push(line.trimEnd());
  if (lines.length <= most) return lines;
  const last = Array.from(lines[most - 1]!);
  while (widthOf(`${last.join('')}…`, style) > width) last.pop();
  return [...lines.slice(0, most - 1), `${last.join('').trimEnd()}…`];
}

/** Wraps a name; one that exceeds the number of lines loses its middle. */
export function nameLinesOf(name: string, style: StyleName, width: number, most: number): readonly string[] {
  for (let length = LONGEST_NAME; ; length -= 1) {
    const lines = linesOf(shortened(name, length), style, width, most + 1);
    if (lines.length <= most) return lines;
  }
}

/** A longer name does not fit into the two lines of a card, even if all its letters are narrow. */
const LONGEST_NAME = 180;
