import { get, type IncomingMessage } from 'node:http';

import { createClient } from '@vantage/client';

import { quantile } from '../goals.ts';

export interface StreamFigures {
  readonly opened: number;
  readonly completed: number;
  /** Time from the first stream that saw the end of its check to the last, milliseconds. */
  readonly spreadMs: number;
  readonly p99Ms: number;
}

/** Opens many event streams of one running check, and waits until each has received its completion or has ended. */
export async function openStreams(url: string, streams: number): Promise<StreamFigures> {
  const client = createClient({ baseUrl: url });
  const { checkId } = await client.startCheck({ type: 'tcp', host: '127.0.0.1', port: 80, limit: 5 });
  const ends: number[] = [];
  let opened = 0;
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const response = await open(`${url}/check/${checkId}/events`);
      opened += 1;
      if (await sawCompletion(response)) ends.push(performance.now());
    }),
  );
  const first = Math.min(...ends);
  return {
    opened,
    completed: ends.length,
    spreadMs: Math.max(...ends) - first,
    p99Ms: quantile(
      ends.map((end) => end - first),
      0.99,
    ),
  };
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { accept: 'text/event-stream' } }, resolve).on('error', reject);
  });
}

async function sawCompletion(response: IncomingMessage): Promise<boolean> {
  if (response.statusCode !== 200) throw new Error(`An event stream was answered with ${response.statusCode}.`);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk as string;
    // A return from the loop destroys the response.
    if (text.includes('event: completed')) return true;
  }
  return false;
}
