// Package cluster is the immutable, indexed picture of a Kubernetes cluster on
// which everything else decides: nodes, pods, the workloads that own them,
// disruption budgets and Services. It reads and writes native objects.
//
// It decides which pods count on a node, what they request and who owns them.
// It never judges whether a pod may leave or where another would go, and it
// never talks to an API server or reads a clock.
package cluster
