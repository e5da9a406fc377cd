import type { ResultFieldsOf } from '@vantage/contract';

import type { CertificateFields } from './certificate.ts';
import type { http } from './contract.ts';

export type Http = typeof http;
export type HttpFields = ResultFieldsOf<Http>;

export type Tls = NonNullable<HttpFields['tls']>;

export interface TlsFields extends CertificateFields {
  sslVersion: string;
  tls: Tls;
}
