// Package loadbed puts the software that measures usage beside a lab: metrics-server,
// Prometheus, a Pushgateway and a node_exporter, as they are shipped. What fake pods use
// is what their annotations say.
//
// It decides how those are started and wired. It never decides what is measured, and
// asks nothing of the program under test.
package loadbed
