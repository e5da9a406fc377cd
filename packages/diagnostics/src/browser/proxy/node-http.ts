/**
 * Values of `node:http`. An import of that module reads all that it exports, and one of them loads Node's fetch, which
 * takes 5 MiB of every agent and is not needed.
 */
export const { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
