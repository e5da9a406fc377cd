const outcomeWords: Readonly<Record<string, string>> = {
  success: 'Success',
  failure: 'Failure',
  timeout: 'Timeout',
  error: 'Not measured',
  pending: 'Measuring',
};

/** An outcome as the page says it. */
export function wordOf(result: string): string {
  return outcomeWords[result] ?? result;
}
