import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const UNPRIVILEGED = 65_534;

/** The lower bound: time of the browser alone from its start to a written image, milliseconds. */
export async function bareScreenshots(executablePath: string, url: string, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'vantage-bare-'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
    const started = performance.now();
    await promisify(execFile)(
      executablePath,
      ['--headless', '--disable-gpu', '--window-size=1280,800', `--screenshot=${folder}/picture.png`, url],
      {
        cwd: folder,
        env: { PATH: '/usr/bin:/bin', HOME: folder },
        ...(isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}),
      },
    );
    times.push(performance.now() - started);
    await rm(folder, { recursive: true, force: true });
  }
  return times;
}
