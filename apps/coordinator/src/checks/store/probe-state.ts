/** State of a probe at a version of its check. */
export interface ProbeState {
  readonly probe: string;
  /** 0 if the probe has neither a partial nor a final result yet. */
  readonly version: number;
  /** Result of the probe without the screenshot, pending or final, as JSON. */
  readonly json: string;
  /** True if the check's screenshot is from this probe. */
  readonly hasPicture: boolean;
}
