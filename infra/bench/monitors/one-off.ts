import { setTimeout as sleep } from 'node:timers/promises';

import type { Stage } from '../load/stage.ts';

/**
 * The peer: as many checks per second as the monitors start, each posted by a client that waits for its results. Open
 * loop: no arrival waits for a response.
 *
 * @returns time from the moment at which each check was due to its start at the first probe, milliseconds
 */
export async function postOneOff(
  { urls, starts }: Stage,
  body: object,
  rate: number,
  seconds: number,
): Promise<readonly number[]> {
  const due = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const begin = Date.now();
  await starts();
  for (let index = 0; index < rate * seconds; index += 1) {
    const at = begin + (index * 1_000) / rate;
    await sleep(Math.max(0, at - Date.now()));
    const url = urls[index % urls.length]!;
    pending.push(postAndWait(url, body).then((id) => void due.set(id, at)));
  }
  await Promise.all(pending);
  const first = new Map<string, number>();
  for (const [id, atMs] of await starts()) first.set(id, Math.min(atMs, first.get(id) ?? atMs));
  return [...due].flatMap(([id, at]) => (first.has(id) ? [first.get(id)! - at] : []));
}

async function postAndWait(url: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/check`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 202) throw new Error(`POST /check: ${response.status} ${await response.text()}`);
  const { checkId } = (await response.json()) as { readonly checkId: string };
  await (await fetch(`${url}/check/${checkId}/results?wait=25`)).arrayBuffer();
  return checkId;
}
