/** What a probe had come to at a version of its check. */
export interface ProbeState {
  readonly probe: string;
  /** 0 where the probe has shown nothing yet. */
  readonly version: number;
  /** Its result without a picture, pending or final, as JSON. */
  readonly json: string;
  /** Whether the picture of the check is its. */
  readonly hasPicture: boolean;
}
