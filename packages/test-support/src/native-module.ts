import { readFileSync, writeFileSync } from 'node:fs';

/** Turns an add-on into one that was compiled for another Node.js: its module record begins with the version. */
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
