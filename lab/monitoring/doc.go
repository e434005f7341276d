// Package monitoring holds the chart's alerts and dashboard to promtool, and to a real Prometheus that scrapes a real
// Evenkeel in the lab.
//
// The package contains only tests.
package monitoring
