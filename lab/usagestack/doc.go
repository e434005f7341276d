// Package usagestack runs released usage sources beside a lab: metrics-server, Prometheus, a Pushgateway and a
// node_exporter. Annotations define what the fake pods use.
//
// The package decides how the sources are started and connected. It does not decide what is measured, and it does not
// use the program under test.
package usagestack
