import { fileURLToPath } from 'node:url';

import type { InlineConfig } from 'vite';

import { formDefinitions, optionHints } from './check-forms.ts';
import { virtualModules } from './virtual-modules.ts';
import { drawWorld, type MapFrame, type MapLand, type WorldMap } from './world-map.ts';

/** Shared by the build of the page and its development server. */
export const pageConfig = {
  root: fileURLToPath(new URL('../', import.meta.url)),
  configFile: false,
  publicDir: 'public',
  plugins: [
    virtualModules({
      'virtual:check-forms': formDefinitions,
      'virtual:option-hints': optionHints,
      'virtual:world-map': () => mapFrame(drawWorld()),
      'virtual:world-land': () => mapLand(drawWorld()),
    }),
  ],
  resolve: { conditions: ['vantage-source', 'module', 'browser'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
} satisfies InlineConfig;

/** Pins need the projection at once; the outlines are loaded separately. */
function mapFrame({ land: _land, borders: _borders, ...frame }: WorldMap): MapFrame {
  return frame;
}

function mapLand({ land, borders }: WorldMap): MapLand {
  return { land, borders };
}
