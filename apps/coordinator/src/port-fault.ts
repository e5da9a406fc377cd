/** Names the settings of an address at which the process cannot listen, then throws. */
export function rejectAddress(settings: string): (error: unknown) => never {
  return (error) => {
    if (!Error.isError(error) || !('syscall' in error) || error.syscall !== 'listen') throw error;
    throw new Error(`${settings}: ${error.message}`, { cause: error });
  };
}
