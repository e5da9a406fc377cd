import { randomBytes } from 'node:crypto';

import type { Serve } from '@vantage/test-support/browser/site';

const IMAGES = 12;

/** A typical page: a style sheet, a script and a dozen images, 150 kB in total. */
export function ordinaryPage(): Readonly<Record<string, string | Serve>> {
  const numbers = Array.from({ length: IMAGES }, (_, index) => index);
  const pictures = numbers.map((index): [string, Serve] => {
    const picture = bitmap(64, 64);
    return [
      `/${index}.bmp`,
      (_request, response) => {
        response.setHeader('Content-Type', 'image/bmp');
        response.end(picture);
      },
    ];
  });
  const text = '<p>The quick brown fox jumps over the lazy dog, and does so again and again. '.repeat(40);
  return {
    '/': `<!doctype html><html><head><link rel="stylesheet" href="/style.css"><script defer src="/script.js"></script>
</head><body><h1>An ordinary page</h1>${numbers.map((index) => `<img src="/${index}.bmp" alt="">`).join('')}${text}</body></html>`,
    '/style.css': (_request, response) => {
      response.setHeader('Content-Type', 'text/css');
      response.end('body { font: 16px sans-serif; margin: 40px } img { border: 1px solid #888; width: 90px }');
    },
    '/script.js': 'document.querySelector("h1").textContent += ", complete";',
    ...Object.fromEntries(pictures),
  };
}

/** An uncompressed bitmap of random pixels, 24 bits each. */
function bitmap(width: number, height: number): Buffer {
  const pixels = randomBytes(width * height * 3);
  const head = Buffer.alloc(54);
  head.write('BM', 0, 'latin1');
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, pixels]);
}
