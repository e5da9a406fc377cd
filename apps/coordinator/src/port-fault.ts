/**
 * Returns a function that throws an error again. If the process could not listen, the message begins with the names of
 * these settings.
 */
export function rejectAddress(settings: string): (error: unknown) => never {
  return (error) => {
    if (!Error.isError(error) || !('syscall' in error) || error.syscall !== 'listen') throw error;
    throw new Error(`${settings}: ${error.message}`, { cause: error });
  };
}
