// Package usagestack runs released usage sources beside a lab: metrics-server, Prometheus, a Pushgateway and a
// node_exporter. Annotations define the resource usage of the fake pods.
//
// The package starts the sources and connects them. The package does not decide what is measured, and does not use the
// program under test.
package usagestack
