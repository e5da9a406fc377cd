import { readFileSync, writeFileSync } from 'node:fs';

/** Changes the `NODE_MODULE_VERSION` of an add-on, as if it was compiled for another release of Node.js. */
export function claimAnotherNode(binary: string): void {
  const bytes = readFileSync(binary);
  // The version, then flags and a handle that are 0 until it is loaded.
  const record = Buffer.alloc(16);
  record.writeInt32LE(Number(process.versions.modules));
  const at = bytes.indexOf(record);
  if (at === -1 || bytes.includes(record, at + 1)) throw new Error(`no single module record in ${binary}`);
  bytes.writeInt32LE(115, at);
  writeFileSync(binary, bytes);
}
