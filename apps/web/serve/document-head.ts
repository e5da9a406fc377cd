/**
 * Open Graph metadata of a check. It is equal for all checks except for URLs, so that the document needs no Redis; the
 * image shows the result.
 */
export function previewOf(publicUrl: string, checkId: string): string {
  const metadata = {
    'og:title': 'A check from several places',
    'og:type': 'website',
    'og:url': `${publicUrl}/c/${checkId}`,
    'og:image': `${publicUrl}/check/${checkId}/card.png`,
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': 'The verdict of the check',
  };
  const tags = Object.entries(metadata).map(([name, text]) => `<meta property="${name}" content="${escape(text)}" />`);
  return [...tags, '<meta name="twitter:card" content="summary_large_image" />'].join('');
}

/** The scripts and data of a check, which browsers would otherwise learn of from the first script. */
export function preloadsOf(files: readonly string[], basePath: string, checkId: string): string {
  const base = escape(basePath);
  const scripts = files.filter((file) => /^\/assets\/(?:Check|results|TypeView)-[\w-]+\.js$/.test(file));
  const data = [`/check/${checkId}/summary`, '/probes'];
  return [
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="${base}${file}" />`),
    ...data.map((path) => `<link rel="preload" as="fetch" crossorigin href="${base}${path}" />`),
  ].join('');
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
