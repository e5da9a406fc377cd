// Assigns each suite to a project by its imports.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Imports that put a suite into a project; the first match counts, and all others are in `unit`. */
const NEEDS = [
  {
    project: 'lab',
    // Network namespaces, browsers, servers of Debian packages.
    modules: /^(puppeteer|puppeteer-core)$|\/(namespaces|test-support\/src\/browser\/needs|debian-packages)\.ts$/,
  },
  {
    project: 'service',
    // Redis and other processes, such as bundled programs and the one with the raw sockets.
    modules:
      /^(@vantage\/redis-server|node:child_process)$|^packages\/redis-server\/|\/(packet-(child|sockets)|bundled-program)\.ts$/,
  },
];

/** `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')`; types are not there when a test runs. */
const IMPORTS = /^(?:import|export)\s(?!type\b)[^'";]*from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

/** Imports of the shared test code are followed into its source files. */
const SUPPORT = /^@vantage\/test-support\/([\w/-]+)$/;

/** Files of tests and of the programs in `infra`. */
const SERVES_TESTS = /(?:^|\/)test\/|^infra\/|^packages\/test-support\//;

/** @returns the suites of each project, as paths from the root of the checkout */
export function suitesByProject() {
  const suites = globSync('{packages,apps,infra}/**/*.test.ts', {
    cwd: repository,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
  });
  return Object.groupBy(suites.toSorted(), projectOf);
}

function projectOf(suite) {
  const modules = modulesOf(suite);
  return NEEDS.find((need) => modules.some((module) => need.modules.test(module)))?.project ?? 'unit';
}

/**
 * The imports of a suite: its own, those of each module that it imports directly, and those of the files of
 * `SERVES_TESTS`, however the suite imports them.
 */
function modulesOf(suite) {
  const direct = importsOf(suite);
  const found = new Set([suite, ...direct]);
  for (const module of found) {
    if (!direct.includes(module) && !SERVES_TESTS.test(module)) continue;
    for (const imported of importsOf(module)) found.add(imported);
  }
  return [...found];
}

const known = new Map();

function importsOf(module) {
  if (!known.has(module)) {
    const imports = textOf(module).matchAll(IMPORTS);
    known.set(
      module,
      [...imports].map(([, ...names]) => {
        const name = names.find((one) => one !== undefined);
        if (name.startsWith('.')) return join(dirname(module), name);
        return name.replace(SUPPORT, 'packages/test-support/src/$1.ts');
      }),
    );
  }
  return known.get(module);
}

function textOf(module) {
  // The pattern may match an import inside a string, of a file that does not exist.
  const file = join(repository, module);
  return module.endsWith('.ts') && existsSync(file) ? readFileSync(file, 'utf8') : '';
}
