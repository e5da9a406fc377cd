import type { CheckTexts, Tone } from '../check-texts.ts';
import { createCanvas, type Colour } from './canvas.ts';
import { linesOf, nameLinesOf } from './lines.ts';
import { encodePng } from './png.ts';
import { plainText } from './plain-text.ts';

/** Size of large previews (Open Graph), pixels. */
export const CARD_WIDTH = 1200;
export const CARD_HEIGHT = 630;

const MARGIN = 72;
const PAPER: Colour = [255, 255, 255];
const COLOURS: Readonly<Record<Tone | 'ink' | 'dim', Colour>> = {
  ink: [16, 24, 29],
  dim: [85, 99, 109],
  good: [10, 117, 72],
  warn: [138, 88, 0],
  bad: [179, 38, 30],
  neutral: [85, 99, 109],
};
const colourNames = Object.keys(COLOURS);
const colour = (name: keyof typeof COLOURS): number => colourNames.indexOf(name);

/** Renders the verdict of a check as a PNG for link previews. It contains no check id. */
export async function card({ name, word, tone, headline, check }: CheckTexts): Promise<Buffer> {
  const canvas = createCanvas(CARD_WIDTH, CARD_HEIGHT, PAPER, Object.values(COLOURS));
  const width = CARD_WIDTH - 2 * MARGIN;
  canvas.fill(0, 0, CARD_WIDTH, 18, colour(tone));
  let y = 118;
  for (const line of nameLinesOf(plainText(name), 'name', width, 2)) {
    canvas.write(MARGIN, y, line, 'name', colour('ink'));
    y += 56;
  }
  canvas.write(MARGIN, y + 60, word, 'word', colour(tone));
  y += 136;
  for (const line of linesOf(plainText(headline), 'text', width, 4)) {
    canvas.write(MARGIN, y, line, 'text', colour('ink'));
    y += 46;
  }
  const time = check === undefined ? '' : ` · ${check.createdAt.slice(0, 16).replace('T', ' ')} UTC`;
  canvas.write(MARGIN, CARD_HEIGHT - 52, `Vantage${time}`, 'text', colour('dim'));
  return encodePng(CARD_WIDTH, CARD_HEIGHT, canvas.pixels, canvas.palette);
}
