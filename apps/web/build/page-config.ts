import { fileURLToPath } from 'node:url';

import type { InlineConfig } from 'vite';

import { formDefinitions } from './check-forms.ts';
import { virtualModules } from './virtual-modules.ts';
import { drawWorld } from './world-map.ts';

/** Shared by the build of the page and its development server. */
export const pageConfig = {
  root: fileURLToPath(new URL('../', import.meta.url)),
  configFile: false,
  publicDir: 'public',
  plugins: [virtualModules({ 'virtual:check-forms': formDefinitions, 'virtual:world-map': drawWorld })],
  resolve: { conditions: ['vantage-source', 'module', 'browser'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
} satisfies InlineConfig;
