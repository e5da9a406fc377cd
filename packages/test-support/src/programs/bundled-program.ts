import { fileURLToPath } from 'node:url';

const apps = new URL('../../../../apps/', import.meta.url);

/**
 * A program as `npm start` and the images run it. It is bundled from the present sources before suites of `service` and
 * `lab` run (`infra/jest/bundle.mjs`), and by commands of `infra` that start it.
 *
 * @param entry as `infra/setup/bundle-programs.mjs` names it
 */
export function bundledProgram(app: 'coordinator' | 'probe-agent' | 'standalone', entry = 'main'): string {
  return fileURLToPath(new URL(`${app}/dist/${entry}.js`, apps));
}
