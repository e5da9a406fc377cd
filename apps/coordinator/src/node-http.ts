/**
 * Values of `node:http`. An import of that module reads all that it exports, and one of them loads Node's fetch, which
 * takes 5 MiB and is not needed.
 */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
