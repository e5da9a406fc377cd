import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Programs of Debian packages, unpacked without installing them, so that the system does not start their services. */
export interface UnpackedPackages {
  /** Root of the unpacked files. */
  readonly folder: string;
  /** Path of a program: the unpacked one, else that of the system. */
  readonly program: (name: string) => string;
  /** Environment variables with which the programs find their libraries. */
  readonly environment: NodeJS.ProcessEnv;
}

const run = promisify(execFile);

/**
 * Downloads and unpacks each set into a separate folder, unless the folder exists. Returns why that is impossible, or
 * null if all sets are available.
 */
export async function packagesMissing(...sets: readonly (readonly string[])[]): Promise<string | null> {
  const tools = ['apt-get', 'dpkg', 'flock'].filter((program) => systemPath(program) === undefined);
  if (tools.length > 0) return `${tools.join(', ')} of Debian not found`;
  try {
    for (const packages of sets) await unpackPackages(...packages);
    return null;
  } catch (error) {
    return `Debian packages not available: ${Error.isError(error) ? error.message.split('\n')[0] : String(error)}`;
  }
}

/**
 * Downloads packages with their missing dependencies and unpacks all into one folder, which is kept for the next
 * call. Needs no privileges.
 *
 * @throws {Error} if a package is not available
 */
export async function unpackPackages(...packages: readonly string[]): Promise<UnpackedPackages> {
  const cache = fileURLToPath(new URL('../../../node_modules/.cache/debian/', import.meta.url));
  const folder = join(cache, packages.toSorted().join('+'));
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const unfinished = await mkdtemp(`${folder}.`);
    try {
      await fetchInto(unfinished, cache, packages);
      // Another test may have been faster: its folder is as good.
      await rename(unfinished, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  const libraries = await libraryFolders(folder);
  return {
    folder,
    program: (name) => {
      const path = programFolders.map((at) => join(folder, at, name)).find(existsSync) ?? systemPath(name);
      if (path === undefined) throw new Error(`There is no ${name} in ${packages.join(', ')}.`);
      return path;
    },
    environment: { ...process.env, LD_LIBRARY_PATH: libraries.join(':') },
  };
}

const programFolders = ['usr/sbin', 'usr/bin', 'sbin', 'bin'];

async function fetchInto(folder: string, cache: string, packages: readonly string[]): Promise<void> {
  const downloads = join(folder, 'downloads');
  await mkdir(join(downloads, 'partial'), { recursive: true });
  await download(downloads, join(cache, 'apt'), packages);
  for (const name of await readdir(downloads)) {
    if (name.endsWith('.deb')) await run('dpkg', ['-x', join(downloads, name), folder]);
  }
  await rm(downloads, { recursive: true });
}

/** Downloads packages; if the system's lists of packages are empty or outdated, with separate lists in the cache. */
async function download(folder: string, state: string, packages: readonly string[]): Promise<void> {
  const separateLists = join(state, 'separate');
  await mkdir(join(separateLists, 'lists/partial'), { recursive: true });
  const ownLists = ['-o', `Dir::State::lists=${separateLists}/lists`];
  const wanted = ['-o', `Dir::Cache::archives=${folder}`, 'install', '-y', '--download-only', ...packages];
  const attempts: readonly (() => Promise<unknown>)[] = [
    () => apt(state, wanted),
    () => apt(separateLists, [...ownLists, ...wanted]),
    async () => {
      // Suites in several processes may do this at the same time.
      await run('flock', [join(state, 'lock'), 'apt-get', ...ownLists, ...UNLOCKED, 'update', '-qq']);
      await apt(separateLists, [...ownLists, ...wanted]);
    },
  ];
  for (const [index, attempt] of attempts.entries()) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (index === attempts.length - 1) throw error;
    }
  }
}

const UNLOCKED = ['-o', 'Debug::NoLocking=1'];

/** The parsed lists are cached in `cache`: parsing costs CPU time, and images often disable apt's cache. */
async function apt(cache: string, args: readonly string[]): Promise<void> {
  const options = [`Dir::Cache=${cache}`, 'Dir::Cache::pkgcache=pkgcache.bin', 'Dir::Cache::srcpkgcache='];
  await run('apt-get', [
    ...options.flatMap((option) => ['-o', option]),
    ...UNLOCKED,
    '-qq',
    '--no-install-recommends',
    ...args,
  ]);
}

/** Library folders: Debian has one per architecture, and subfolders for libraries with several variants (BLAS). */
async function libraryFolders(root: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const at of ['usr/lib', 'lib']) {
    for (const name of await foldersIn(join(root, at))) {
      if (!name.includes('-linux-')) continue;
      const folder = join(root, at, name);
      folders.push(folder, ...(await foldersIn(folder)).map((below) => join(folder, below)));
    }
    // libtins is not in the folder of its architecture.
    if (existsSync(join(root, at))) folders.push(join(root, at));
  }
  return folders;
}

async function foldersIn(path: string): Promise<readonly string[]> {
  if (!existsSync(path)) return [];
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function systemPath(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  return folders.map((folder) => join(folder, program)).find(existsSync);
}
