import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/**
 * Spawns pings as a probe that wraps the program would. Arguments: the program, the host, the number of pings, and
 * how many run concurrently.
 */
const [program = 'ping', host = '', total = '0', atOnce = '1'] = process.argv.slice(2);
const TICKS_PER_SECOND = 100;
let left = Number(total);

async function pingAfterPing(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const child = spawn(program, ['-n', '-c', '4', '-i', '0.2', host], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    await once(child, 'close');
  }
}

const before = cpuMs();
await Promise.all(Array.from({ length: Number(atOnce) }, pingAfterPing));
process.stdout.write(`${cpuMs() - before}\n`);

/** CPU time of this process and of its exited children. */
function cpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks / TICKS_PER_SECOND) * 1_000;
}
