# Images of the daemons, for who builds with Docker or Podman. `make image` makes the same file systems without them.
#
#   docker build -t karmada-controller-manager .
#   docker build -t karmada-search --target karmada-search .
#   docker build -t karmada-agent --target karmada-agent .

FROM debian:12 AS build
RUN apt-get update && apt-get install --yes --no-install-recommends git make
COPY . /src
WORKDIR /src
RUN make image-root IMAGES=karmada-controller-manager && mv build/image/root /controller-manager
RUN make image-root IMAGES=karmada-search && mv build/image/root /search
RUN make image-root IMAGES=karmada-agent && mv build/image/root /agent

FROM scratch AS karmada-search
COPY --from=build /search /
ENV PATH=/bin
USER 65532:65532
ENTRYPOINT ["/bin/karmada-search"]

FROM scratch AS karmada-agent
COPY --from=build /agent /
ENV PATH=/bin
USER 65532:65532
ENTRYPOINT ["/bin/karmada-agent"]

FROM scratch AS karmada-controller-manager
COPY --from=build /controller-manager /
ENV PATH=/bin
USER 65532:65532
ENTRYPOINT ["/bin/karmada-controller-manager"]
