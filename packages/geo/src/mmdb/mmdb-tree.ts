import type { Address } from '../address.ts';

/** The search tree of an MMDB file (MaxMind DB file format 2.0, "Binary Search Tree Section"). */
export interface MmdbTree {
  /** The value for the address and the length of its prefix; null if the tree has no data for it. */
  readonly find: (address: Address) => TreeHit | null;
  /** The records of a node. */
  readonly sidesOf: (node: number) => readonly [left: number, right: number];
}

interface TreeHit {
  /**
   * Value of the final record: the sum of the number of nodes, the size of the separator, and the offset in the data
   * section.
   */
  readonly value: number;
  readonly prefixLength: number;
}

/** The bytes of the tree, or of the cached part. */
export interface TreeBytes {
  readonly buffer: Buffer;
  /**
   * Loads a node and returns its index in the buffer; if undefined, the buffer holds all nodes.
   *
   * @throws {Error} if it cannot be read
   */
  readonly place?: (node: number) => number;
}

export interface TreeShape {
  readonly nodeCount: number;
  readonly nodeByteSize: number;
  readonly ipVersion: number;
}

/** Marks an entry of the index that is not filled: above any real depth. */
const UNKNOWN_DEPTH = 0xff;

/** Walks the tree directly: `mmdb-lib` would parse the address again for each file. */
export function openTree(bytes: TreeBytes, { nodeCount, nodeByteSize, ipVersion }: TreeShape): MmdbTree {
  const readSide = sideReader(bytes, nodeByteSize);

  /** Follows bits from `depth` on, to a record, an empty leaf or the end of the bits. */
  function descend(from: number, depth: number, bytes: ArrayLike<number>): TreeHit {
    let value = from;
    let at = depth;
    for (const bits = bytes.length * 8; at < bits && value < nodeCount; at += 1) {
      value = readSide(value, (bytes[at >> 3]! >> (7 - (at & 7))) & 1);
    }
    return { value, prefixLength: at };
  }

  const v4Root = ipVersion === 4 ? 0 : descend(0, 0, Array<number>(12).fill(0)).value;
  // Index by the first 16 bits of IPv4 addresses. Each entry is filled at its first use.
  const v4Nodes = new Uint32Array(1 << 16);
  const v4Depths = new Uint8Array(1 << 16).fill(UNKNOWN_DEPTH);

  function index(top: number): void {
    const { value, prefixLength } = descend(v4Root, 0, [top >> 8, top & 0xff]);
    v4Nodes[top] = value;
    v4Depths[top] = prefixLength;
  }

  return {
    find({ family, bytes }) {
      // An IPv4 tree would look up the first 32 bits of an IPv6 address.
      if (family === 6 && ipVersion === 4) return null;
      const top = (bytes[0]! << 8) | bytes[1]!;
      if (family === 4 && v4Depths[top] === UNKNOWN_DEPTH) index(top);
      const hit = family === 4 ? descend(v4Nodes[top]!, v4Depths[top]!, bytes) : descend(0, 0, bytes);
      return hit.value > nodeCount ? hit : null;
    },
    sidesOf: (node) => [readSide(node, 0), readSide(node, 1)],
  };
}

type SideReader = (node: number, side: number) => number;

function sideReader({ buffer, place }: TreeBytes, nodeBytes: number): SideReader {
  const sideIn = sideInBuffer(buffer, nodeBytes);
  return place === undefined ? sideIn : (node, side) => sideIn(place(node), side);
}

function sideInBuffer(buffer: Buffer, nodeBytes: number): SideReader {
  if (nodeBytes === 8) {
    return (node, side) => {
      const at = node * 8 + side * 4;
      return buffer[at]! * 0x100_0000 + ((buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!);
    };
  }
  if (nodeBytes === 6) {
    return (node, side) => {
      const at = node * 6 + side * 3;
      return (buffer[at]! << 16) | (buffer[at + 1]! << 8) | buffer[at + 2]!;
    };
  }
  // The middle byte contains the four high bits of the left side, then those of the right one.
  return (node, side) => {
    const at = node * 7 + side * 4;
    const middle = buffer[node * 7 + 3]!;
    const high = side === 0 ? middle >> 4 : middle & 0x0f;
    return (high << 24) | (buffer[at]! << 16) | (buffer[at + 1]! << 8) | buffer[at + 2]!;
  };
}
