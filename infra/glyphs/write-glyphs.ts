/**
 * Writes `apps/coordinator/src/http/sharing/card/glyph-data.ts`, the glyphs of cards, rendered once by Chromium with
 * the font of the web page, so that the service needs neither.
 *
 *     node --conditions=vantage-source infra/glyphs/write-glyphs.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

import { openBrowser } from '../../apps/web/test/browser.ts';

const require = createRequire(join(import.meta.dirname, '../../apps/web/package.json'));
const target = join(import.meta.dirname, '../../apps/coordinator/src/http/sharing/card/glyph-data.ts');

/** Characters of the font: ASCII, and others in summaries and shortened names. */
const CHARACTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index))}…·–—’“”×≥≤±µ→□`;
/** Size in pixels and weight of each style. */
const STYLES = { word: [84, 650], name: [44, 600], text: [34, 430] } as const;

const font = require.resolve('@fontsource-variable/geist/files/geist-latin-wght-normal.woff2');
const source = `data:font/woff2;base64,${readFileSync(font, 'base64')}`;
const browser = await openBrowser();
try {
  const page = await browser.newPage();
  const styles: unknown = await page.evaluate(`(async () => {
    const face = new FontFace('Card', 'url(${source})', { weight: '100 900' });
    document.fonts.add(await face.load());
    const draw = ([size, weight]) => {
      const canvas = new OffscreenCanvas(3 * size, 2 * size);
      const context = canvas.getContext('2d', { willReadFrequently: true });
      const glyphs = {};
      for (const character of ${JSON.stringify(CHARACTERS)}) {
        context.font = weight + ' ' + size + 'px Card';
        context.fillStyle = '#000';
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.fillStyle = '#fff';
        const [left, baseline] = [size, Math.round(1.4 * size)];
        context.fillText(character, left, baseline);
        const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
        const level = (x, y) => Math.round(data[4 * (y * width + x)] / 17);
        let [x0, x1, y0, y1] = [width, -1, height, -1];
        for (let y = 0; y < height; y += 1)
          for (let x = 0; x < width; x += 1)
            if (level(x, y) > 0) [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)];
        const rows = [];
        for (let y = y0; y <= y1; y += 1) {
          let row = '';
          for (let x = x0; x <= x1; x += 1) row += level(x, y).toString(16);
          rows.push(row);
        }
        const advance = Math.round(context.measureText(character).width * 100) / 100;
        glyphs[character] = { advance, x: rows.length === 0 ? 0 : x0 - left, y: rows.length === 0 ? 0 : y0 - baseline, rows };
      }
      return { size, glyphs };
    };
    const styles = ${JSON.stringify(STYLES)};
    return Object.fromEntries(Object.entries(styles).map(([name, style]) => [name, draw(style)]));
  })()`);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  const data = brotliCompressSync(Buffer.from(JSON.stringify(styles)), { params }).toString('base64');
  writeFileSync(
    target,
    `/** Written by \`infra/glyphs/write-glyphs.ts\`: JSON of \`GlyphStyle\` by name, brotli, base64. */\nexport const glyphData =\n  '${data}';\n`,
  );
} finally {
  await browser.close();
}
