import { basename, dirname } from 'node:path';

import { build } from 'vite';

interface BundleOptions {
  /** Lines at the start of the file. */
  readonly banner: string;
  /** Expressions that replace identifiers. */
  readonly define?: Readonly<Record<string, string>>;
  /** Module format; ES modules by default. */
  readonly format?: 'es' | 'cjs';
}

/** Bundles a module and its imports, except modules of Node, into one file. */
export async function bundle(
  entry: string,
  file: string,
  { banner, define = {}, format = 'es' }: BundleOptions,
): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    define,
    resolve: { conditions: ['vantage-source', 'module', 'node'] },
    ssr: { noExternal: true, target: 'node', resolve: { conditions: ['vantage-source', 'module', 'node'] } },
    build: {
      ssr: entry,
      target: 'node20',
      outDir: dirname(file),
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        output: { entryFileNames: basename(file), banner, format, codeSplitting: false },
      },
    },
  });
}
