/** One metric as it is declared: the instruments, the reference page and the tests of dashboards are made from these. */
export interface MetricDeclaration {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** As Prometheus knows it, such as `vantage_checks_created_total`; units end the name. */
  readonly name: string;
  /** What it counts, in a sentence. */
  readonly help: string;
  /** Label → what its values are. All of them come from closed lists or from the operator, never from callers or targets. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Upper bounds of a histogram, in the unit of the name. */
  readonly buckets?: readonly number[];
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;
