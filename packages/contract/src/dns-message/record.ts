export interface DnsRecord {
  /** Fully qualified, presentation form. */
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  /** Presentation form. */
  readonly data: string;
}

export interface Question {
  readonly name: string;
  readonly typeCode: number;
  readonly classCode: number;
}
