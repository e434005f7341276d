// Package auditverifier checks what a rebalancer did. It compares three sources: the audit log of the API server, a
// recording of every state of pods, budgets, workloads, nodes and the Lease, and the reports of the rebalancer.
//
// It counts everything itself. It takes nothing from the program under test except the claims that it checks. It
// never talks to a cluster.
package auditverifier
