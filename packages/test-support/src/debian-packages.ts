import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Programs of Debian packages that are unpacked and not installed: nothing of them is started by the system. */
export interface UnpackedPackages {
  /** Root of the unpacked files. */
  readonly folder: string;
  /** Path of a program, of the system where the packages are installed there. */
  readonly program: (name: string) => string;
  /** What the programs need to find their libraries. */
  readonly environment: NodeJS.ProcessEnv;
}

const run = promisify(execFile);

/** Why packages cannot be had on this machine, each set of them in a separate folder; null if they can. */
export async function packagesMissing(...sets: readonly (readonly string[])[]): Promise<string | null> {
  const tools = ['apt-get', 'dpkg'].filter((program) => systemPath(program) === undefined);
  if (tools.length > 0) return `${tools.join(' and ')} of Debian not found`;
  try {
    for (const packages of sets) await unpackPackages(...packages);
    return null;
  } catch (error) {
    return `Debian packages not to be had: ${Error.isError(error) ? error.message.split('\n')[0] : String(error)}`;
  }
}

/**
 * Downloads packages and what they need that is not installed here, and unpacks all into one folder. It is kept: the next
 * call finds it. Needs no rights.
 *
 * @throws {Error} where a package is not to be had
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
  const { missing, options } = await missingPackages(cache, packages);
  if (missing.length === 0) return;
  const downloads = join(folder, 'downloads');
  await mkdir(downloads);
  await run('apt-get', [...options, 'download', '-qq', ...missing], { cwd: downloads });
  for (const archive of await readdir(downloads)) await run('dpkg', ['-x', join(downloads, archive), folder]);
  await rm(downloads, { recursive: true });
}

interface MissingPackages {
  /** As `name=version`, dependencies first. */
  readonly missing: readonly string[];
  /** With which apt knows of them. */
  readonly options: readonly string[];
}

/** A machine whose lists of packages are empty or old gets separate lists in the cache; the system's stay as they are. */
async function missingPackages(cache: string, packages: readonly string[]): Promise<MissingPackages> {
  try {
    return { missing: await toInstall([], packages), options: [] };
  } catch {
    const state = join(cache, 'apt');
    await mkdir(join(state, 'lists/partial'), { recursive: true });
    const options = ['-o', `Dir::State::lists=${state}/lists`, '-o', `Dir::Cache=${state}`, '-o', 'Debug::NoLocking=1'];
    await run('apt-get', [...options, 'update', '-qq']);
    return { missing: await toInstall(options, packages), options };
  }
}

async function toInstall(options: readonly string[], packages: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run('apt-get', [...options, 'install', '-s', '--no-install-recommends', ...packages]);
  return [...stdout.matchAll(/^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) /gm)].map(
    ([, name, version]) => `${name}=${version}`,
  );
}

/** Debian keeps libraries in folders of their architecture, those of which there are several kinds (BLAS) one below. */
async function libraryFolders(root: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const at of ['usr/lib', 'lib']) {
    for (const name of await foldersIn(join(root, at))) {
      if (!name.includes('-linux-')) continue;
      const folder = join(root, at, name);
      folders.push(folder, ...(await foldersIn(folder)).map((below) => join(folder, below)));
    }
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
