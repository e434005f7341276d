// Package load tests hints and load balancing with real usage sources: metrics-server and Prometheus. The nodes are
// simulated, and annotations define the usage of their pods.
package load
