/**
 * Every type of the API that the client needs. The npm package takes them from `@vantage/types` instead:
 * `infra/npm/pack-client.ts`.
 */
import type { Check, CommonResult, EventResult, ParamsOf, PublicFieldsOf } from '@vantage/contract';
import type { checkTypes, CheckTypeName } from '@vantage/diagnostics/contract';

export type {
  Agents,
  CheckStart,
  Me,
  Monitor,
  MonitorEvent,
  MonitorInList,
  MonitorRequest,
  Monitors,
} from '@vantage/contract';
export type { Comparison, Probes, Problem, Run, Summary } from '@vantage/contract';
export type { CheckTypeName } from '@vantage/diagnostics/contract';

type TypeOf<Name extends CheckTypeName> = (typeof checkTypes)[Name];

/** Body of `POST /check`. The service validates the requirements of the schema that this type does not express. */
export type CheckRequest = { readonly [Name in CheckTypeName]: CheckRequestOf<Name> }[CheckTypeName];

export type CheckRequestOf<Name extends CheckTypeName> = {
  readonly type: Name;
  readonly host: string;
  readonly probes?: readonly string[];
  readonly locations?: readonly string[];
  readonly limit?: number;
  readonly options?: Partial<ParamsOf<TypeOf<Name>>['options']>;
} & Partial<Omit<ParamsOf<TypeOf<Name>>, 'host' | 'options'>>;

/** Two probes, each of which traces to the other. */
export interface PairRequest {
  readonly type: 'traceroute';
  readonly between: readonly string[];
  readonly options?: CheckRequestOf<'traceroute'>['options'];
}

/** One probe's result: final, or pending with the fields known so far. */
export type ResultOf<Name extends CheckTypeName> =
  | (CommonResult & PublicFieldsOf<TypeOf<Name>>)
  | ({ readonly result: 'pending' } & Partial<Omit<CommonResult, 'result'>> & PublicFieldsOf<TypeOf<Name>>);

export type CheckOf<Name extends CheckTypeName> = Check<ResultOf<Name>>;

/** A result in an event: `screenshotUrl` replaces an inline screenshot. */
export type EventResultOf<Name extends CheckTypeName> = EventResult<ResultOf<Name>>;

export type EventCheckOf<Name extends CheckTypeName> = Check<EventResultOf<Name>>;
