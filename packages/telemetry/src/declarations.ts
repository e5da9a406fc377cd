/** Declares one metric; instruments, reference page and dashboard tests are derived from it. */
export interface MetricDeclaration {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /**
   * Prometheus name, such as `vantage_result_lag_seconds`; ends with the unit, if it has one, or a counter's `_total`.
   */
  readonly name: string;
  /** Help text. */
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
