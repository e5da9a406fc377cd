import { durationSchema, Type } from '@vantage/contract';

const phase = (description: string) => Type.Optional({ ...durationSchema, description });

/** The field `timings` of a result and of its redirects. */
export const timings = Type.Object(
  {
    dns: phase('Resolution of the name; 0 for an address.'),
    connect: phase('TCP handshake.'),
    tls: phase('TLS handshake; absent for http URLs.'),
    firstByte: phase('From the request to the first byte of the answer.'),
    download: phase('From the first byte of the answer to its end, or to where it was cut off.'),
    retries: phase(
      'Attempts that were given up before: with addresses that took no connection, and by HTTP/2 where the server ' +
        'wants HTTP/1.1 or did not take the request up. The phases after `dns` are of the attempt that gave the ' +
        'answer.',
    ),
    total: { ...durationSchema, description: 'All of it; the sum of the phases if none was interrupted.' },
  },
  {
    additionalProperties: false,
    description: 'Milliseconds per phase. An unfinished phase is absent.',
  },
);
