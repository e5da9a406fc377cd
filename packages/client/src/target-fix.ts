/** A check that may have been meant. */
export interface TargetFix {
  readonly type: string;
  readonly host: string;
  readonly port?: number;
  /** Record type of a dns check. */
  readonly recordType?: string;
}

/** The reason why a text is no target of a check type, and the checks that were probably meant. */
export interface TargetMistake {
  readonly message: string;
  readonly fixes: readonly TargetFix[];
}

/** The facts about a check type that its targets depend on. */
export interface TypeFacts {
  readonly type: string;
  readonly hostKind: 'host' | 'url' | 'name';
  /** True if the request has a field for the port. */
  readonly hasPort: boolean;
  /** Names of all check types. */
  readonly types: readonly string[];
}
