// Package e2e shows what Evenkeel does to a real cluster: a real API server and
// scheduler, the shipped binary, and the audit log as witness.
package e2e
