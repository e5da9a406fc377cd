import type { Figure } from '../goals.ts';
import { cpuBesideExporter } from './cpu.ts';
import { phasesBesideCurl } from './phases.ts';
import { startTarget } from './target.ts';

/** http checks compared with `curl -w` and the blackbox exporter against the same server on loopback. */
export async function http(): Promise<readonly Figure[]> {
  const target = await startTarget();
  try {
    return [...(await phasesBesideCurl(target)), ...(await cpuBesideExporter(target))];
  } finally {
    await target.stop();
  }
}
