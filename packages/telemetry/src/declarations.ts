/** Declares one metric; instruments, reference page and dashboard tests are derived from it. */
export interface MetricDeclaration {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Prometheus name, such as `vantage_checks_created_total`; ends with the unit. */
  readonly name: string;
  /** Help text, one sentence. */
  readonly help: string;
  /**
   * Label → description of its values. Values come from closed lists or from the operator, never from clients or
   * targets, to bound cardinality.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /** Bucket upper bounds of a histogram, in the unit of the name. */
  readonly buckets?: readonly number[];
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;
