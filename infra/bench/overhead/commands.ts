import { once } from 'node:events';
import { connect } from 'node:net';

/** Counts the commands that clients send to Redis, by MONITOR, without those called by scripts. */
export interface CommandCount {
  /** Commands since the start or the last call, by name. */
  readonly take: () => ReadonlyMap<string, number>;
  readonly close: () => void;
}

export async function countCommands(port: number): Promise<CommandCount> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('MONITOR\r\n');
  let counts = new Map<string, number>();
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n');
    rest = lines.pop()!;
    for (const line of lines) {
      // Form: `+1700000000.000000 [0 127.0.0.1:40000] "get" "key"`; `[0 lua]` is a call by a script.
      const match = /^\+[\d.]+ \[\d+ (\S+)\] "([^"]+)"/.exec(line);
      if (match === null || match[1] === 'lua') continue;
      const name = match[2]!.toLowerCase();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  });
  return {
    take: () => {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    close: () => socket.destroy(),
  };
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
