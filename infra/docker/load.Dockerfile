# The load generator. Its first stage begins with the slow steps of coordinator.Dockerfile, so that they run once.
# Build from the root of the repository: docker build -f infra/docker/load.Dockerfile .

FROM node:24-bookworm-slim AS build
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends g++ \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /vantage
COPY . .
# Installs as in a checkout: dependencies from the lockfile, the table of networks, the web page.
RUN node infra/setup/run.mjs setup --no-system-packages
RUN node infra/setup/bundle-programs.mjs load
RUN node infra/setup/pnpm.mjs --filter @vantage/load deploy --prod /out/load \
 && cp LICENSE NOTICE /out/load/

FROM debian:bookworm-slim AS runtime
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# The volume of the report takes over the owner of this folder.
RUN groupadd --gid 1000 vantage \
 && useradd --uid 1000 --gid vantage --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin vantage \
 && mkdir /report && chown vantage:vantage /report
ENV NODE_ENV=production LOAD_REPORT=/report
WORKDIR /vantage
COPY --from=build /out/load .
USER vantage
ENTRYPOINT ["node", "dist/main.js"]
