// Package auditverifier checks what a rebalancer did. The verifier compares three sources: the audit log of the API
// server, a recording of every state of pods, budgets, workloads, nodes and the Lease, and the reports of the
// rebalancer.
//
// The verifier counts evictions itself. Its only input from the program under test is the reports, which it checks. The
// package never connects to a cluster.
package auditverifier
