/**
 * Makes the C library send a question to a silent resolver again each second (RES_OPTIONS of resolv.conf(5)), in
 * lookups after this call, unless the variable is set. Its default of five seconds would delay connections after an
 * outage of the resolver by as much.
 */
export function askResolversAgainSoon(environment: NodeJS.ProcessEnv): void {
  environment['RES_OPTIONS'] ??= 'timeout:1 attempts:5';
}
