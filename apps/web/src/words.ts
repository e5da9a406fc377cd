const outcomeWords: Readonly<Record<string, string>> = {
  success: 'Success',
  failure: 'Failure',
  timeout: 'Timeout',
  error: 'Not measured',
  pending: 'Measuring',
};

/** Display name of an outcome. */
export function wordOf(result: string): string {
  return outcomeWords[result] ?? result;
}
