/**
 * `npm run -s fuzz -- --minutes N --seed S [--json FILE]`: sends requests generated from the OpenAPI document, and
 * validates every response against it.
 */
import { report } from '../bench/goals.ts';
import { bundlePrograms } from '../command/bundle-programs.ts';
import { endWithChildren } from '../command/end-with-children.ts';
import { openProgress } from '../command/progress.ts';
import { flagsOfProcess } from '../command/read-flags.ts';

const values = flagsOfProcess('npm run -s fuzz --', 'Sends requests made from the OpenAPI document.', {
  minutes: { description: 'How long.', fallback: '1', isNumber: true },
  seed: { description: 'Repeats a run. Without it a new one.', isNumber: true },
  json: { description: 'File for the figures.' },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Date.now() % 1_000_000)];
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run -s fuzz -- [--minutes N] [--seed S] [--json FILE]\n');
  process.exit(2);
}

endWithChildren();
bundlePrograms();
// Not loaded for the help, because they are slow to load.
const [{ startFuzzBed }, { fuzz }] = await Promise.all([import('./bed.ts'), import('./run.ts')]);
const bed = await startFuzzBed();
const progress = openProgress('fuzz', { totalMs: minutes * 60_000 });
try {
  const endsAt = performance.now() + minutes * 60_000;
  print(`seed ${seed}, ${minutes} min`);
  const seen = await fuzz(bed, { seed, isDone: isDone(endsAt) });
  progress.stop();
  for (const fault of seen.faults.slice(0, 20)) print(`fault ${fault}`);
  for (const line of seen.logged.slice(0, 20)) print(`logged ${line}`);
  for (const [status, count] of [...seen.byStatus].toSorted(([a], [b]) => a - b)) print(`${status}: ${count} answers`);
  process.exitCode = report(
    [
      ...Object.entries(seen.sent).map(([kind, value]) => ({ name: `${kind} requests`, value, unit: 'requests' })),
      { name: 'answers that break the document or a promise', value: seen.faults.length, unit: 'answers', atMost: 0 },
      { name: '5xx', value: seen.serverErrors + seen.unavailable, unit: 'answers', atMost: 0 },
      { name: 'requests without an answer', value: seen.hangs, unit: 'requests', atMost: 0 },
      { name: 'errors logged', value: seen.logged.length, unit: 'lines', atMost: 0 },
      { name: 'longest answer', value: seen.longestMs, unit: 'ms' },
    ],
    values.json,
  );
} finally {
  progress.stop();
  await bed.stop();
}

function isDone(endsAt: number): (sent: number) => boolean {
  return (sent) => {
    if (sent % 100 === 0) progress.step(`${sent} requests`);
    return performance.now() >= endsAt;
  };
}
