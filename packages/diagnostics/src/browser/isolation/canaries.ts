import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Listeners that the pages of a browser must not reach. They send nothing. */
export interface Canaries {
  /** `host:port` of the listeners for connections, an IPv6 address in brackets. */
  readonly web: readonly string[];
  /** `host:port` of the listeners for datagrams. */
  readonly datagrams: readonly string[];
  /** Listeners that got a connection or a datagram, as `tcp host:port` or `udp host:port`. */
  readonly touched: () => readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Listens on a free TCP port and a free UDP port of each address. Omits an address whose TCP port cannot be opened, and
 * a UDP port that cannot.
 */
export async function startCanaries(addresses: readonly string[]): Promise<Canaries> {
  const touched = new Set<string>();
  const servers: Server[] = [];
  const sockets: DatagramSocket[] = [];
  const [web, datagrams]: [string[], string[]] = [[], []];
  for (const address of addresses) {
    const server = await listen(address, (name) => touched.add(`tcp ${name}`));
    if (server === undefined) continue;
    const socket = await bind(address, (name) => touched.add(`udp ${name}`));
    servers.push(server);
    web.push(hostPort(server.address() as AddressInfo));
    if (socket === undefined) continue;
    sockets.push(socket);
    datagrams.push(hostPort(socket.address()));
  }
  const close = async (): Promise<void> => {
    await Promise.all([
      ...servers.map((server) => new Promise((resolve) => server.close(resolve))),
      ...sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))),
    ]);
  };
  return { web, datagrams, touched: () => [...touched].toSorted(), close };
}

/**
 * Loopback and the machine's own addresses except link-local ones of IPv6, at most `MAX_ADDRESSES`: packets to them
 * never leave the machine.
 */
export function ownAddresses(): readonly string[] {
  const found = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  // A link-local address of IPv6 needs its interface in addition, and a page cannot name one.
  const named = found.map(({ address }) => address).filter((address) => !/^fe[89ab]/i.test(address));
  return [...new Set(['127.0.0.1', '::1', ...named])].slice(0, MAX_ADDRESSES);
}

const MAX_ADDRESSES = 8;

function listen(host: string, onTouch: (name: string) => void): Promise<Server | undefined> {
  const server = createServer((socket) => {
    onTouch(hostPort(server.address() as AddressInfo));
    socket.on('error', () => undefined).destroy();
  });
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined)).listen(0, host, () => resolve(server));
  });
}

function bind(address: string, onTouch: (name: string) => void): Promise<DatagramSocket | undefined> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', () => onTouch(hostPort(socket.address())));
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind(0, address, () => resolve(socket));
  });
}

function hostPort({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
