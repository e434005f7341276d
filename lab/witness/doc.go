// Package witness judges what a rebalancer did, from what the API server noted
// (the audit log), from every state of pods, budgets, workloads, nodes and the
// Lease that a watch of its own saw, and from the reports that the rebalancer
// wrote.
//
// It counts everything itself and takes nothing from the program that it judges
// but the claims it checks. It never talks to a cluster.
package witness
