import { createServer, type Plugin } from 'vite';

import { writeFont } from './font.ts';
import { pageConfig } from './page-config.ts';
import { OF_THE_SERVICE } from './service-paths.ts';

export interface DevServer {
  readonly close: () => Promise<void>;
}

/**
 * Serves the page from its sources with reload; forwards requests for `OF_THE_SERVICE` to the service.
 *
 * @param publicUrl URL of the page
 * @param serviceUrl URL of the coordinator
 */
export async function startDevServer(publicUrl: string, serviceUrl: string): Promise<DevServer> {
  await writeFont();
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

/** Makes the paths of the document absolute, and substitutes the URL of the page in it. */
function fillDocument(publicUrl: string): Plugin {
  return {
    name: 'fill-document',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) => html.replaceAll('"./', '"/').replaceAll('__PUBLIC_URL__', publicUrl),
    },
  };
}
