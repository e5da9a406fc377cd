import { MAX_SCREENSHOT_BYTES, SCREENSHOT_PIECE_BYTES } from '@vantage/contract';

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
/** Memory of a new upload: that of the largest piece. It doubles while it is too small. */
const FIRST_BYTES = SCREENSHOT_PIECE_BYTES;

/** Memory of an upload, of which `bytes` are received. */
interface Upload {
  readonly memory: Buffer;
  readonly bytes: number;
}

const NOTHING: Upload = { memory: Buffer.alloc(0), bytes: 0 };

/** Copies each piece into the memory of its upload: pieces kept apart would take more than their bytes. */
export function createUploads(budget: UploadBudget): Uploads {
  const open = new Map<number, Upload>();

  const remove = (upload: number): Buffer | undefined => {
    const found = open.get(upload);
    if (found === undefined) return undefined;
    open.delete(upload);
    budget.bytes -= found.memory.length;
    return found.memory.subarray(0, found.bytes);
  };
  return {
    add: (upload, piece) => {
      const found = open.get(upload) ?? NOTHING;
      const bytes = found.bytes + piece.length;
      if (bytes > MAX_SCREENSHOT_BYTES) return 'fault';
      const isEnough = bytes <= found.memory.length;
      const wanted = isEnough ? found.memory.length : Math.max(FIRST_BYTES, 2 * found.memory.length);
      if (budget.bytes + wanted - found.memory.length > budget.mostBytes) return 'full';
      if (!open.has(upload) && open.size === MOST_UPLOADS) remove(Math.min(...open.keys()));
      const memory = isEnough ? found.memory : grown(found, wanted);
      budget.bytes += memory.length - found.memory.length;
      piece.copy(memory, found.bytes);
      open.set(upload, { memory, bytes });
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

function grown({ memory, bytes }: Upload, wanted: number): Buffer {
  // Not from the pool that Node shares between small buffers.
  const larger = Buffer.allocUnsafeSlow(wanted);
  memory.copy(larger, 0, 0, bytes);
  return larger;
}
