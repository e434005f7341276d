// Package oracle compares package placement with the real kube-scheduler. For random clusters, placement and the
// scheduler must agree on the feasible nodes, the score of every plugin, and the winners.
package oracle
