// Package oracle compares package placement with the real kube-scheduler. On random clusters, both must find the same
// feasible nodes, the same score of every plugin, and the same winners.
package oracle
