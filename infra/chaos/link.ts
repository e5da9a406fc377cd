import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy on the connection of one process to Redis or the gateways, through which a fault can disturb it. */
export interface Link {
  readonly port: number;
  /** Closes every connection; new ones can be opened. */
  readonly cut: () => void;
  /** Drops all data in both directions silently; accepts new connections and drops theirs too. */
  readonly silence: () => void;
  /** Delays every byte by this time, in each direction. */
  readonly delay: (oneWayMs: number) => void;
  /** Ends the effects of `delay` and `silence`; after `silence`, closes every connection. */
  readonly mend: () => void;
  readonly close: () => void;
}

/** Both ends of a connection, ready to carry data. */
interface Ends {
  readonly client: Socket;
  readonly upstream: Socket;
}

interface State {
  readonly sockets: Set<Socket>;
  silent: boolean;
  oneWayMs: number;
}

/**
 * @param open the port to which each connection leads, or a function that returns both of its ends, or undefined to
 *   refuse it
 */
export async function openLink(open: number | ((client: Socket) => Promise<Ends | undefined>)): Promise<Link> {
  const state: State = { sockets: new Set(), silent: false, oneWayMs: 0 };
  const lead = async (accepted: Socket): Promise<void> => {
    const ends =
      typeof open === 'number'
        ? { client: accepted, upstream: connect(open, '127.0.0.1') }
        : await open(accepted).catch(() => undefined);
    if (ends === undefined) return void accepted.destroy();
    carry(ends.client, ends.upstream, state);
    carry(ends.upstream, ends.client, state);
  };
  const server = createServer((client) => {
    client.on('error', () => undefined);
    state.sockets.add(client);
    client.on('close', () => state.sockets.delete(client));
    void lead(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of state.sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence: () => {
      state.silent = true;
    },
    delay: (ms) => {
      state.oneWayMs = ms;
    },
    mend: () => {
      state.oneWayMs = 0;
      if (state.silent) cut();
      state.silent = false;
    },
    close: () => {
      server.close();
      cut();
    },
  };
}

function carry(from: Socket, to: Socket, state: State): void {
  state.sockets.add(from);
  from.setNoDelay(true);
  // Chunks keep their order even if their delays differ, because TCP does.
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
    if (state.silent) return;
    const due = Math.max(performance.now() + state.oneWayMs, held.at(-1)?.due ?? 0);
    held.push({ chunk, due });
    if (held.length === 1) release();
  });
  from.on('error', () => undefined);
  from.on('close', () => {
    state.sockets.delete(from);
    if (!state.silent) to.destroy();
  });
}
