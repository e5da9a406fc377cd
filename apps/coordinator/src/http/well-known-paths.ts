/** Path of the probe description (RFC 9511 section 3). */
export const PROBING_PATH = '/.well-known/probing.txt';
/** Path of the security contacts (RFC 9116 section 3). */
export const SECURITY_PATH = '/.well-known/security.txt';
