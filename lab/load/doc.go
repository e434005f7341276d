// Package load tries hints and balancing by load, as shipped, against real sources of
// usage: metrics-server and Prometheus, on nodes whose pods use what they are told to.
package load
