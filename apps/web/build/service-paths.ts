const paths = [
  'check',
  'c/[^/]+/embed',
  'probes?',
  'monitors',
  'metrics/monitors',
  'sd',
  'me',
  'docs',
  'problems',
  'openapi\\.json',
  'healthz',
  'readyz',
  'robots\\.txt',
  '\\.well-known',
];

/** Pattern of paths that the coordinator answers without the page. */
export const OF_THE_SERVICE = `^/(${paths.join('|')})([/?]|$)`;
