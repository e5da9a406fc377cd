/**
 * Values of `node:http`. An import of that module reads all that it exports, and the lazy ones, such as `WebSocket`,
 * load Node's fetch, which takes 5 MiB and is not needed.
 */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
