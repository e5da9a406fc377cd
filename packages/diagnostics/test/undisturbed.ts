const MAX_VISITS = 10;

/**
 * What Chromium says of a server, asked again where an interface of the machine came or went meanwhile, as those of other
 * tests do: that says nothing of the server. The last answer stands, so a machine that is never quiet fails the test.
 */
export async function undisturbed(visit: () => Promise<string>): Promise<string> {
  let seen = await visit();
  for (let visits = 1; visits < MAX_VISITS && seen === 'ERR_NETWORK_CHANGED'; visits += 1) seen = await visit();
  return seen;
}
