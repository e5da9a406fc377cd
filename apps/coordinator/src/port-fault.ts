/**
 * Returns a function that throws the error that it gets. For a failure to listen, or to resolve the host to listen on, it
 * throws one whose message begins with the names of these settings.
 */
export function rejectAddress(settings: string): (error: unknown) => never {
  return (error) => {
    const syscall = Error.isError(error) && 'syscall' in error ? error.syscall : undefined;
    if (!Error.isError(error) || (syscall !== 'listen' && syscall !== 'getaddrinfo')) throw error;
    throw new Error(`${settings}: ${error.message}`, { cause: error });
  };
}
