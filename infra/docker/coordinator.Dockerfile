# The HTTP API and the web page. The first two stages are those of probe-agent.Dockerfile: they are built once.
# Build from the root of the repository: docker build -f infra/docker/coordinator.Dockerfile .

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

FROM runtime AS coordinator
COPY --from=build /out/coordinator .
COPY infra/docker/first-start.mjs infra/docker/healthy.mjs /usr/local/lib/vantage/
USER vantage
ENV HOST=0.0.0.0 PORT=8080 \
    MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s \
  CMD ["node", "/usr/local/lib/vantage/healthy.mjs", "PORT", "HOST", "/healthz"]
# Bounds of the heap, in addition to those of malloc above: docs/optimisations.md.
CMD ["node", "--max-semi-space-size=4", "dist/main.js"]
