# A probe agent. The first two stages are those of coordinator.Dockerfile: they are built once.
# Build from the root of the repository: docker build -f infra/docker/probe-agent.Dockerfile .
# Without a browser, and so without screenshots: --build-arg BROWSER=none

FROM node:24-bookworm-slim AS build
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /vantage
COPY . .
# Installs as in a checkout: dependencies from the lockfile, the table of networks, the web page.
RUN node infra/setup/run.mjs setup --no-system-packages
RUN node infra/setup/bundle-programs.mjs coordinator probe-agent
# Deploys each program with its production dependencies, in the versions of the lockfile, from the installed
# ones. Removes files that only compilers and debuggers read, nearly half of the agent, and the symbols of
# Node.
RUN node infra/setup/pnpm.mjs --filter @vantage/coordinator deploy --prod --offline /out/coordinator \
 && node infra/setup/pnpm.mjs --filter @vantage/probe-agent deploy --prod --offline /out/probe-agent \
 && test -s "$(find /out/coordinator -name asn.mmdb)" \
 && test -s /out/coordinator/data/place-names.json \
 && test -s "$(find /out/coordinator -path '*/dist/page/index.html')" \
 && node infra/setup/native-module.mjs /out/probe-agent \
 && cp LICENSE NOTICE /out/coordinator/ && cp LICENSE NOTICE /out/probe-agent/ \
 && find /out -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.tsbuildinfo' \) -delete \
 && strip -o /out/node /usr/local/bin/node

# Debian and Node only: no npm, no headers. The user id is the one to which the files of the volumes belong.
FROM debian:bookworm-slim AS runtime
COPY --from=build /out/node /usr/local/bin/node
RUN groupadd --gid 1000 vantage \
 && useradd --uid 1000 --gid vantage --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin vantage \
 && node --version
ENV NODE_ENV=production
WORKDIR /vantage

FROM runtime AS probe-agent
ARG BROWSER=chromium
# A browser for screenshots with fonts for most scripts, and the tools that create its network namespace.
RUN apt-get update -qq \
 && if [ "$BROWSER" = none ]; then browser=; else \
    browser="chromium-headless-shell iproute2 fonts-liberation fonts-droid-fallback fonts-noto-color-emoji"; fi \
 && apt-get install -y -qq --no-install-recommends $browser libcap2-bin \
 # CAP_NET_RAW for the packet process only: a copy of setpriv, which only the user of the agent may run, has
 # it and passes it to Node as an ambient capability. A copy of Node would add a hundred megabytes.
 && mkdir /usr/local/lib/vantage \
 && cp /usr/bin/setpriv /usr/local/lib/vantage/setpriv-packets \
 && chown root:vantage /usr/local/lib/vantage/setpriv-packets \
 && chmod 0750 /usr/local/lib/vantage/setpriv-packets \
 && setcap cap_net_raw+ep /usr/local/lib/vantage/setpriv-packets \
 && apt-get purge -y -qq --auto-remove libcap2-bin \
 # Removes files of the packages for graphics cards and for Perl, a third of the layer: the headless shell
 # renders in software.
 && rm -rf /usr/lib/*-linux-gnu/libLLVM-* /usr/lib/*-linux-gnu/libz3.so* /usr/lib/*-linux-gnu/dri \
    /usr/lib/*-linux-gnu/perl /usr/lib/*-linux-gnu/libperl.so* /usr/share/perl /usr/lib/*-linux-gnu/libgallium* \
 && rm -rf /var/lib/apt/lists/* /usr/share/doc/* /usr/share/man/* /var/log/* /var/cache/*
COPY infra/docker/node-packets.sh /usr/local/bin/node-packets
COPY infra/docker/healthy.mjs /usr/local/lib/vantage/
COPY --from=build /out/probe-agent .
# For the key of an agent that connects to a gateway: a volume takes over the owner of this folder.
RUN install -d -o vantage -g vantage -m 0700 /var/lib/vantage
USER vantage
# On the network of the host, another process may use the port: the health check reads the actual one from the
# file.
ENV PACKET_PROCESS_NODE=/usr/local/bin/node-packets METRICS_PORT=9464 METRICS_PORT_FILE=/tmp/vantage-metrics-port \
    VANTAGE_STATE_FOLDER=/var/lib/vantage \
    MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s \
  CMD ["node", "/usr/local/lib/vantage/healthy.mjs", "METRICS_PORT", "METRICS_HOST", "/readyz", "METRICS_PORT_FILE"]
# Bounds of the heap, in addition to those of malloc above: docs/optimisations.md.
CMD ["node", "--max-semi-space-size=2", "dist/main.js"]
