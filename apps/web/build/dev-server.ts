import { createServer, type Plugin } from 'vite';

import { pageConfig } from './page-config.ts';

/** Paths of the HTTP API and of the pages that the coordinator makes itself. */
const OF_THE_SERVICE =
  '^/(check|probes|me|docs|problems|openapi\\.json|healthz|readyz|robots\\.txt|\\.well-known)([/?]|$)';

export interface DevServer {
  readonly close: () => Promise<void>;
}

/**
 * Serves the page from its sources and reloads it when one changes; requests of the API go to the service.
 *
 * @param publicUrl where the page is opened
 * @param serviceUrl where the coordinator listens
 */
export async function startDevServer(publicUrl: string, serviceUrl: string): Promise<DevServer> {
  const { hostname, port } = new URL(publicUrl);
  const server = await createServer({
    ...pageConfig,
    plugins: [...pageConfig.plugins, fillDocument(publicUrl)],
    server: {
      host: hostname,
      port: Number(port),
      strictPort: true,
      proxy: { [OF_THE_SERVICE]: { target: serviceUrl } },
    },
  });
  await server.listen();
  return { close: () => server.close() };
}

/** Replaces in the document what the coordinator replaces in the built one. */
function fillDocument(publicUrl: string): Plugin {
  return {
    name: 'fill-document',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) => html.replaceAll('"./', '"/').replaceAll('__PUBLIC_URL__', publicUrl),
    },
  };
}
