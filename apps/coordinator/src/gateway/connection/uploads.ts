import { MAX_SCREENSHOT_BYTES } from '@vantage/contract';

/** Memory for screenshots that are being received, of all connections of a gateway. */
export interface UploadBudget {
  bytes: number;
  readonly mostBytes: number;
}

/** Screenshots that one connection sends in pieces. */
export interface Uploads {
  /**
   * `full` if the gateway has no memory for the piece at the moment; `fault` if the screenshot exceeds the size limit.
   */
  readonly add: (upload: number, piece: Buffer) => 'taken' | 'full' | 'fault';
  /** Ends an upload and returns the image; undefined if it has not exactly `bytes` bytes or does not exist. */
  readonly take: (upload: number, bytes: number) => Buffer | undefined;
  readonly drop: () => void;
}

/** Maximum open uploads of a connection; beyond it, that with the lowest number is dropped. */
const MOST_UPLOADS = 2;

export function createUploads(budget: UploadBudget): Uploads {
  const open = new Map<number, { readonly pieces: Buffer[]; bytes: number }>();

  const remove = (upload: number): Buffer | undefined => {
    const found = open.get(upload);
    if (found === undefined) return undefined;
    open.delete(upload);
    budget.bytes -= found.bytes;
    return Buffer.concat(found.pieces);
  };
  return {
    add: (upload, piece) => {
      const isNew = !open.has(upload);
      if (budget.bytes + piece.length > budget.mostBytes) return 'full';
      if (isNew && open.size === MOST_UPLOADS) remove(Math.min(...open.keys()));
      const found = open.get(upload) ?? { pieces: [], bytes: 0 };
      if (found.bytes + piece.length > MAX_SCREENSHOT_BYTES) return 'fault';
      open.set(upload, found);
      // A copy: the piece is a view of a larger buffer of the connection, which would stay in memory.
      found.pieces.push(Buffer.from(piece));
      found.bytes += piece.length;
      budget.bytes += piece.length;
      return 'taken';
    },
    take: (upload, bytes) => {
      const png = remove(upload);
      return png?.length === bytes ? png : undefined;
    },
    drop: () => {
      for (const upload of open.keys()) remove(upload);
    },
  };
}
