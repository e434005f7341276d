// Package cluster holds an immutable, indexed snapshot of a Kubernetes cluster: nodes, pods,
// the workloads that own them, disruption budgets and Services. It reads snapshots from files
// and writes them as native objects.
//
// It decides which pods count on a node, what they request and which workload owns them. It
// never decides whether a pod may leave or where it would go. It never talks to an API server
// and never reads a clock.
package cluster
