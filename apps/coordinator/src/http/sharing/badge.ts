import { html } from '../pages/html.ts';
import { shortened } from './shortened.ts';
import type { CheckTexts, Tone } from './check-texts.ts';

/** Background colours of a badge. White text on each has a contrast of at least 4.5:1. */
const COLOURS: Readonly<Record<Tone, string>> = {
  good: '#1a7f37',
  warn: '#9a6700',
  bad: '#cf222e',
  neutral: '#57606a',
};

const LONGEST_LABEL = 48;
const PADDING = 7;

/** Renders the verdict of a check as an SVG of 20 pixels height; all texts are escaped. */
export function badge({ name, word, tone }: CheckTexts): string {
  const label = shortened(name, LONGEST_LABEL);
  const [left, right] = [widthOf(label), widthOf(word)];
  const [split, width] = [left + 2 * PADDING, left + right + 4 * PADDING];
  const { markup } = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${width}"
    height="20"
    role="img"
    aria-label="${`${name}: ${word}`}"
  >
    <title>${`${name}: ${word}`}</title>
    <clipPath id="shape"><rect width="${width}" height="20" rx="4" /></clipPath>
    <g clip-path="url(#shape)">
      <rect width="${split}" height="20" fill="#24292f" />
      <rect x="${split}" width="${width - split}" height="20" fill="${COLOURS[tone]}" />
    </g>
    <g
      fill="#fff"
      font-family="Verdana,Geneva,DejaVu Sans,sans-serif"
      font-size="11"
      direction="ltr"
      unicode-bidi="isolate"
    >
      <text x="${PADDING}" y="14" textLength="${left}" lengthAdjust="spacingAndGlyphs">${label}</text>
      <text x="${split + PADDING}" y="14" textLength="${right}" lengthAdjust="spacingAndGlyphs">${word}</text>
    </g>
  </svg> `;
  return markup;
}

/** Estimate for Verdana at 11 pixels; `textLength` stretches other fonts to this width. */
function widthOf(text: string): number {
  const widths = Array.from(text, (character) => {
    if (/[ijlftrI.,:;'|!()[\]/ -]/.test(character)) return 4.4;
    if (/[mwMW@%]/.test(character)) return 10.4;
    if (character > '\u{2e7f}') return 12;
    return /[A-Z\d]/.test(character) ? 7.4 : 6.8;
  });
  return Math.round(widths.reduce((sum, width) => sum + width, 0));
}
