import { readSync } from 'node:fs';

import type { TreeBytes } from './mmdb-tree.ts';

const PAGE_BYTES = 4_096;

/** Limit of cached pages per file; a page's number determines its slot. A power of two. */
const SLOTS = 256;

interface TreeSize {
  readonly nodeCount: number;
  readonly nodeByteSize: number;
}

/** Reads pages of a search tree from its file on demand. @param fd stays open */
export function readPages(fd: number, { nodeCount, nodeByteSize }: TreeSize): TreeBytes {
  const nodesPerPage = Math.floor(PAGE_BYTES / nodeByteSize);
  const slots = Math.min(SLOTS, 2 ** Math.ceil(Math.log2(nodeCount / nodesPerPage + 1)));
  const buffer = Buffer.allocUnsafeSlow(slots * nodesPerPage * nodeByteSize);
  const pages = new Int32Array(slots).fill(-1);

  const read = (page: number, slot: number): void => {
    const nodes = Math.min(nodesPerPage, nodeCount - page * nodesPerPage);
    pages[slot] = -1;
    // Synchronous: the page is usually in the kernel's cache, so reading it takes less time than an asynchronous read.
    const offset = slot * nodesPerPage * nodeByteSize;
    const bytesRead = readSync(fd, buffer, offset, nodes * nodeByteSize, page * nodesPerPage * nodeByteSize);
    if (bytesRead !== nodes * nodeByteSize) throw new Error('the file became shorter');
    pages[slot] = page;
  };

  return {
    buffer,
    place: (node) => {
      const page = Math.floor(node / nodesPerPage);
      const slot = page & (slots - 1);
      if (pages[slot] !== page) read(page, slot);
      return slot * nodesPerPage + node - page * nodesPerPage;
    },
  };
}
