/**
 * Returns a function that throws the error that it gets. For a failure to listen, it throws one whose message begins
 * with the names of these settings.
 */
export function rejectAddress(settings: string): (error: unknown) => never {
  return (error) => {
    if (!Error.isError(error) || !('syscall' in error) || error.syscall !== 'listen') throw error;
    throw new Error(`${settings}: ${error.message}`, { cause: error });
  };
}
