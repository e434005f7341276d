// Package prometheus reads the usage of nodes and pods, and firing alerts, from a Prometheus or a server with the same
// API.
//
// The package decides what to query and which parts of an answer are plausible. The package rejects partial
// answers. The package never decides which usage is too high, or what an alert means.
package prometheus
