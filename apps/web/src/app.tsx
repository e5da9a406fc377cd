import type { JSX } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';

import { KeyButton } from './key/KeyButton.tsx';
import { HomePage } from './pages/Home.tsx';
import { Icon, Mark } from './parts/icons.tsx';
import { Link, RouterProvider, useRouter, useService } from './parts/router.tsx';
import { ProbesProvider } from './parts/use-probes.tsx';
import { lazyView } from './parts/view.tsx';
import type { Service } from './service.ts';
import { chooseTheme, currentTheme, themes } from './theme.ts';

const check = lazyView(async () => (await import('./pages/Check.tsx')).CheckPage);
const compare = lazyView(async () => (await import('./pages/Compare.tsx')).ComparePage);
const monitors = lazyView(async () => (await import('./pages/monitoring.ts')).MonitorsPage);
const monitor = lazyView(async () => (await import('./pages/monitoring.ts')).MonitorPage);
const probes = lazyView(async () => (await import('./pages/Probes.tsx')).ProbesPage);

/** Prefetches the views of the probes and of checks 300 ms after the first render. */
function useOthers(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      void probes.load();
      void check.load().then(async () => (await import('./views/TypeView.tsx')).loadTypeViews());
    }, 300);
    return () => clearTimeout(timer);
  }, []);
}

export function App({ service }: { readonly service: Service }): JSX.Element {
  useSlash();
  useOthers();
  return (
    <RouterProvider service={service}>
      <ProbesProvider>
        <a class="skip" href="#main">
          To the content
        </a>
        <Top />
        <div id="main" tabIndex={-1}>
          <Guarded />
        </div>
        <Bottom />
      </ProbesProvider>
    </RouterProvider>
  );
}

/** “/” focuses the host or search field, except during text input. */
function useSlash(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest('input, textarea, select') !== null) return;
      const field = document.querySelector<HTMLInputElement>('#host, #seek');
      if (field === null) return;
      event.preventDefault();
      field.focus();
      field.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** If a view throws while it is rendered, a message replaces the view, not the whole page. */
function Guarded(): JSX.Element {
  const { route } = useRouter();
  const [fault, reset] = useErrorBoundary();
  useEffect(reset, [route]);
  if (fault === undefined) return <View />;
  return (
    <main class="page plain">
      <h1>This cannot be shown</h1>
      <p class="lead">The page had an internal error. The results are still available in the service.</p>
      <p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </main>
  );
}

function View(): JSX.Element {
  const { route, visit } = useRouter();
  switch (route.view) {
    case 'home':
      return <HomePage key={visit} query={route.query} />;
    case 'check':
      return <check.View id={route.id} />;
    case 'compare':
      return <compare.View key={`${route.a} ${route.b}`} {...route} />;
    case 'probes':
      return <probes.View />;
    case 'monitors':
      return <monitors.View />;
    case 'monitor':
      return <monitor.View key={route.name} name={route.name} />;
    case 'nowhere':
    default:
      return <Nowhere />;
  }
}

function Nowhere(): JSX.Element {
  useEffect(() => {
    document.title = 'Nothing here · Vantage';
  }, []);
  return (
    <main class="page plain">
      <h1>Nothing here</h1>
      <p class="lead">This address leads to no page of the service.</p>
      <p>
        <Link to="/">Start a check</Link>
      </p>
    </main>
  );
}

function Top(): JSX.Element {
  const { route } = useRouter();
  const { path } = useService();
  return (
    <header class="top-bar">
      <Link to="/" class="brand">
        <Mark />
        Vantage
      </Link>
      <nav aria-label="Main">
        <Link to="/m" aria-current={route.view === 'monitors' || route.view === 'monitor' ? 'page' : undefined}>
          Monitors
        </Link>
        <Link to="/status" aria-current={route.view === 'probes' ? 'page' : undefined}>
          Probes
        </Link>
        <a href={path('/docs')}>API</a>
        <KeyButton />
        <ThemeButton />
      </nav>
    </header>
  );
}

const themeNames = { system: 'as the system', light: 'light', dark: 'dark' } as const;

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(currentTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  return (
    <button
      type="button"
      class="quiet theme"
      aria-label={`Colours: ${themeNames[theme]}. Change to ${themeNames[next]}`}
      title={`Colours: ${themeNames[theme]}`}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    >
      <Icon name={theme} />
    </button>
  );
}

/** Sources of the geo data, whose licences require this attribution, and of the map. */
function Bottom(): JSX.Element {
  const { path } = useService();
  return (
    <footer class="bottom">
      <p>
        Places and networks of addresses: <a href="https://db-ip.com">IP Geolocation by DB-IP</a>,{' '}
        <a href="https://www.routeviews.org">RouteViews</a>, <a href="https://www.nro.net">NRO</a> (
        <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>), and GeoLite2 data created by{' '}
        <a href="https://www.maxmind.com">MaxMind</a> (CC BY-SA 4.0). Map: Natural Earth.
      </p>
      <p>
        <a href={path('/docs')}>API reference</a>
      </p>
    </footer>
  );
}
