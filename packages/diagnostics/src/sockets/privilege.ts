/** Error code of a packet process that ended after it was ready; one that cannot be started has ECHILD. */
export const PACKET_PROCESS_LOST = 'ESRCH';

/** True for the errors of `PacketSockets.open` which mean that this probe cannot have raw sockets. */
export function isPrivilegeError(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EPERM' || code === 'EACCES' || code === 'ECHILD';
}

/** True for the error of a packet process that ended after it was ready, except by `close`. */
export function isPacketProcessLost(error: unknown): boolean {
  return codeOf(error) === PACKET_PROCESS_LOST;
}

/** Why there is no raw socket, in a sentence that may be public: `GET /probes` includes it. */
export function privilegeText(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EPERM' || code === 'EACCES') {
    return 'The packet process lacks the privilege to open raw sockets (CAP_NET_RAW).';
  }
  if (code === 'EAFNOSUPPORT') return 'The machine does not have this address family.';
  return Error.isError(error) ? error.message.replace(/^(ECHILD|ESRCH): /, '') : String(error);
}

function codeOf(error: unknown): unknown {
  return Error.isError(error) && 'code' in error ? error.code : undefined;
}
