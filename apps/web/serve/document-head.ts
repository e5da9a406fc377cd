/** Texts that a chat shows for a link to a check. */
export interface Preview {
  /** One line: name and verdict. */
  readonly title: string;
  /** A sentence. */
  readonly description: string;
}

const UNREAD: Preview = {
  title: 'A check from several places',
  description: 'Ping, HTTP, DNS, TCP, UDP and traceroute from several places at once.',
};

/** Open Graph metadata of a check. Without `preview` the texts are general. */
export function metadataOf(publicUrl: string, checkId: string, preview: Preview = UNREAD): string {
  const metadata = {
    'og:site_name': 'Vantage',
    'og:title': preview.title,
    'og:description': preview.description,
    'og:type': 'website',
    'og:url': `${publicUrl}/c/${checkId}`,
    'og:image': `${publicUrl}/check/${checkId}/card.png`,
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': preview.title,
  };
  const tags = Object.entries(metadata).map(([name, text]) => `<meta property="${name}" content="${escape(text)}" />`);
  return [...tags, '<meta name="twitter:card" content="summary_large_image" />'].join('');
}

/**
 * Markup that preloads scripts and data of the view of a check, which browsers would otherwise discover only in the
 * first script.
 */
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
