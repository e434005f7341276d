# The image that the chart runs: one static binary, no shell, not root.
#
#   docker build --build-arg VERSION=0.1.0 -t WHERE/YOUR/IMAGE/IS:0.1.0 .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /evenkeel ./cmd/evenkeel

FROM scratch
# To check the certificate of a server outside the cluster.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /evenkeel /evenkeel
USER 65532:65532
ENTRYPOINT ["/evenkeel"]
