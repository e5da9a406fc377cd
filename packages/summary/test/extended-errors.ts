import type { SparseResultOf } from '../src/probe-result.ts';

/** Fields of a dns result with an extended DNS error. */
export function extended(code: number, name = `Error ${code}`): Pick<SparseResultOf<'dns'>, 'edns'> {
  const extendedErrors = [{ code, name, text: '' }];
  return { edns: { version: 0, udpSize: 1232, dnssecOk: false, nsid: null, extendedErrors } };
}
