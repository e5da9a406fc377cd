/** Explains an HTTP response to a WebSocket handshake that does not come from a gateway that accepts it. */
export function handshakeRefusal(status: number, location?: string): string {
  const answer = `the WebSocket handshake was answered with HTTP status ${status}`;
  if (status === 429) return `${answer}: too many connections from this address`;
  if (status >= 500) return `${answer}: the gateway, or a proxy in front of it, is not ready`;
  if (status === 407) return `${answer}: the proxy requires a login; set it in HTTPS_PROXY`;
  if (status >= 300 && status < 400 && location !== undefined) {
    return `${answer}, a redirect to ${location.slice(0, 200)}: set VANTAGE_URL to the address of the service itself`;
  }
  return `${answer}: VANTAGE_URL is not the address of a Vantage service, or a proxy in front of it does not pass upgrades on`;
}
