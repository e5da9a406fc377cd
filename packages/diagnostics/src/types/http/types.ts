import type { ResultFieldsOf } from '@vantage/contract';

import type { http } from './contract.ts';

export type Http = typeof http;
export type HttpFields = ResultFieldsOf<Http>;
