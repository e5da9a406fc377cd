import { Type } from '@vantage/contract';

/** Limit of the text of a fault, bytes. */
export const MAX_REASON_BYTES = 300;
/** Limit of the listed faults that only Chromium rejects. */
export const MAX_CHROMIUM_FAULTS = 4;

const reason = (description: string) => Type.String({ maxLength: MAX_REASON_BYTES, description });

/** Fields of `tls` with what Chromium, and with it Chrome and Edge, rejects. */
export const chromiumFields = {
  chromiumFaults: Type.Optional(
    Type.Array(
      Type.Object(
        {
          certificate: Type.Integer({ minimum: 0, description: 'Which certificate, by its position in `chain`.' }),
          reason: reason('What Chromium refuses, in a sentence.'),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: MAX_CHROMIUM_FAULTS,
        description:
          'What Chromium, and with it Chrome and Edge, refuses in these certificates although OpenSSL accepts it. It makes ' +
          '`authorized` not false. Absent: nothing was found.',
      },
    ),
  ),
  chromiumRefusal: Type.Optional(
    reason(
      'Why Chromium, and with it Chrome and Edge, cannot connect although the check did, in a sentence: the server agrees to no ' +
        'cipher suite, group or signature that Chromium offers. Of the last request. Absent: nothing was found.',
    ),
  ),
};
