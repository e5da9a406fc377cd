import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The line between one process and Redis, which a fault can spoil. */
export interface Link {
  readonly port: number;
  /** Closes every connection; new ones can be made. */
  readonly cut: () => void;
  /** Drops all data in both directions silently; accepts new connections and drops theirs too. */
  readonly silence: () => void;
  /** Holds every byte back for so long, in each direction. */
  readonly delay: (oneWayMs: number) => void;
  /** Whole again. What was silent has lost bytes, so it is closed. */
  readonly mend: () => void;
  readonly close: () => void;
}

export async function openLink(targetPort: number): Promise<Link> {
  const sockets = new Set<Socket>();
  let silent = false;
  let oneWayMs = 0;

  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    // In order, whatever the delay is when each arrives: TCP lets nothing overtake.
    const held: { readonly chunk: Buffer; readonly due: number }[] = [];
    const release = (): void => {
      const now = performance.now();
      while (held.length > 0 && held[0]!.due <= now) {
        const { chunk } = held.shift()!;
        if (to.writable) to.write(chunk);
      }
      if (held.length > 0) setTimeout(release, Math.max(1, held[0]!.due - now));
    };
    from.on('data', (chunk: Buffer) => {
      if (silent) return;
      const due = Math.max(performance.now() + oneWayMs, held.at(-1)?.due ?? 0);
      held.push({ chunk, due });
      if (held.length === 1) release();
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!silent) to.destroy();
    });
  };

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    carry(client, upstream);
    carry(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence: () => {
      silent = true;
    },
    delay: (ms) => {
      oneWayMs = ms;
    },
    mend: () => {
      oneWayMs = 0;
      if (silent) cut();
      silent = false;
    },
    close: () => {
      server.close();
      cut();
    },
  };
}
