// Package score computes the scores of kube-scheduler's plugins with their integer rounding. The
// package never decides which nodes are feasible.
package score
