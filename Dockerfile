# The image of a hub. `docker build .` compiles it; `--target prebuilt` takes the programs from image/ARCHITECTURE/.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked

FROM debian:bookworm-slim AS base
# CA certificates, for pushes and for TLS to a database; time zones, for the days of Pulse and of searches.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates tzdata && rm -rf /var/lib/apt/lists/*
# A hub refuses a data directory owned by another user. With a database the directory holds nothing to back up.
RUN useradd --system --uid 10001 countersign && install --directory --owner countersign --mode 0700 /data
USER 10001
ENV COUNTERSIGN_DATA=/data NO_COLOR=1
VOLUME /data
EXPOSE 7422
# Checks /ready and the store; exits with 1 on a problem.
HEALTHCHECK --interval=60s --timeout=20s --start-period=30s CMD ["countersign", "doctor"]
# Publish the port on loopback or behind a TLS proxy: `--publish 127.0.0.1:7422:7422`.
CMD ["countersign", "serve", "--listen", "0.0.0.0:7422", "--allow-plain-http"]

FROM base AS prebuilt
ARG TARGETARCH
COPY image/${TARGETARCH}/countersign image/${TARGETARCH}/cueme /usr/local/bin/

FROM base
COPY --from=build /src/target/dist/countersign /src/target/dist/cueme /usr/local/bin/
