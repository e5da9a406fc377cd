/**
 * Names of errors by the texts of strerror(3): raw-socket throws texts and no codes. glibc and musl differ in some.
 */
const byText: Readonly<Record<string, string>> = {
  'Operation not permitted': 'EPERM',
  'Permission denied': 'EACCES',
  'Address family not supported by protocol': 'EAFNOSUPPORT',
  'Protocol not supported': 'EPROTONOSUPPORT',
  'Network is unreachable': 'ENETUNREACH',
  'Network unreachable': 'ENETUNREACH',
  'No route to host': 'EHOSTUNREACH',
  'Host is unreachable': 'EHOSTUNREACH',
  'Host is down': 'EHOSTDOWN',
  'Network is down': 'ENETDOWN',
  'Message too long': 'EMSGSIZE',
  'Message too large': 'EMSGSIZE',
  'Invalid argument': 'EINVAL',
  'Resource temporarily unavailable': 'EAGAIN',
  'No buffer space available': 'ENOBUFS',
  'Cannot assign requested address': 'EADDRNOTAVAIL',
  'Address not available': 'EADDRNOTAVAIL',
  'Connection refused': 'ECONNREFUSED',
  'Too many open files': 'EMFILE',
  'No file descriptors available': 'EMFILE',
};

/** The errno of an error from raw-socket, or the code of one from Node; EIO for unknown ones. */
export function errnoOf(thrown: unknown): string {
  if (!Error.isError(thrown)) return 'EIO';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return byText[thrown.message] ?? 'EIO';
}

/** An error in the form of those of Node's own sockets. */
export function errnoError(errno: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${errno}: ${message}`), { code: errno });
}
