import type { CheckRequest, PairRequest } from '@vantage/client';

import type { MonitorAction } from '../monitors/monitor-action.ts';
import type { Shell } from './completion.ts';
import type { HelpTopic } from './help-topics.ts';

export type Command =
  | { readonly kind: 'check'; readonly request: CheckRequest | PairRequest; readonly settings: CommandSettings }
  | { readonly kind: 'show'; readonly checkId: string; readonly settings: CommandSettings }
  | { readonly kind: 'compare'; readonly checkIds: readonly [string, string]; readonly settings: CommandSettings }
  | { readonly kind: 'probes'; readonly settings: CommandSettings }
  | { readonly kind: 'me'; readonly settings: CommandSettings }
  | { readonly kind: 'monitors'; readonly action: MonitorAction; readonly settings: CommandSettings }
  | { readonly kind: 'completion'; readonly shell: Shell }
  | { readonly kind: 'help'; readonly of: HelpTopic | undefined }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'invalid';
      readonly faults: readonly string[];
      /** Topic whose help lists the flags. */
      readonly of?: HelpTopic;
    };

export interface CommandSettings {
  /** URL of the service; undefined without a flag. */
  readonly server: string | undefined;
  /** API key; undefined without a flag. */
  readonly key: string | undefined;
  /** True to print the answer of the service as JSON, and nothing else. */
  readonly json: boolean;
  /** True to print only the results, as CSV. */
  readonly csv: boolean;
  /** Seconds between runs of a repeated check; undefined for one run. */
  readonly watchSeconds: number | undefined;
  /** File for the screenshot of an http check. */
  readonly saveScreenshot: string | undefined;
}
