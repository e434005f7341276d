// Package score computes the scores of the plugins of kube-scheduler, one plugin a
// file, with their integer rounding. It never decides which nodes are feasible.
package score
