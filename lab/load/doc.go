// Package load tests hints and balancing by resource usage with real sources: metrics-server and Prometheus. The
// nodes are simulated, and their pods use what annotations say.
package load
