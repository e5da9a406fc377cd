// Which suites are pure, which need a service and which a laboratory: read off what they import.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** What makes a suite one of a project, the first that fits; `unit` has the rest. */
const NEEDS = [
  {
    project: 'lab',
    // Network namespaces, browsers, servers of Debian packages.
    modules: /^(puppeteer|puppeteer-core)$|\/(namespaces|test-support\/src\/browser\/needs|debian-packages)\.ts$/,
  },
  {
    project: 'service',
    // Redis and other processes, that of the raw sockets too.
    modules: /^(@vantage\/redis-server|node:child_process)$|^packages\/redis-server\/|\/packet-(child|sockets)\.ts$/,
  },
];

/** `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')`; types are not there when a test runs. */
const IMPORTS = /^(?:import|export)\s(?!type\b)[^'";]*from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

/** What tests share is followed as the files that it is. */
const SUPPORT = /^@vantage\/test-support\/([\w/-]+)$/;

/** What serves tests alone. */
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

/** What a suite imports: itself, by way of what serves tests, and by the modules of the product that it is a test of. */
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
  // A pattern may find an import in a text, of a file that is not there.
  const file = join(repository, module);
  return module.endsWith('.ts') && existsSync(file) ? readFileSync(file, 'utf8') : '';
}
