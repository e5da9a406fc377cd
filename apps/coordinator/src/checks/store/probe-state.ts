/** State of a probe at a version of its check. */
export interface ProbeState {
  readonly probe: string;
  /** Version of the last change of the probe's results or screenshot; 0 before the first. */
  readonly version: number;
  /** Result of the probe without the screenshot, pending or final, as JSON. */
  readonly json: string;
  /** True if the check's screenshot is from this probe. */
  readonly hasScreenshot: boolean;
}
