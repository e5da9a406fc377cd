import type { JSX } from 'preact';

import { byteCount } from '../../format.ts';
import { Facts } from '../../parts/facts.tsx';
import { Attempts } from '../PortView.tsx';
import type { FieldsOf } from '../types.ts';

export function UdpDetails({ result }: { readonly result: FieldsOf<'udp'> }): JSX.Element {
  return (
    <>
      <Attempts result={result} />
      <Facts
        facts={[
          [
            'Sent',
            result.payload === undefined
              ? null
              : result.payload === ''
                ? 'an empty datagram'
                : hexLines(result.payload),
          ],
          [
            'Answer',
            (result.responseBytes ?? 0) === 0
              ? null
              : `${byteCount(result.responseBytes!)}: ${hexOf(result.response ?? '')}`,
          ],
          [
            'ICMP',
            result.icmp === null || result.icmp === undefined
              ? null
              : `type ${result.icmp.type}, code ${result.icmp.code}${result.icmp.from === null ? '' : `, from ${result.icmp.from}`}`,
          ],
        ]}
      />
    </>
  );
}

function hexLines(hex: string): string {
  return (hex.match(/../g) ?? []).join(' ');
}

function hexOf(base64: string): string {
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join(' ');
}
