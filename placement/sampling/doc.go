// Package sampling predicts the winner if kube-scheduler scores only a sample of the feasible
// nodes. The package computes how often each node wins over all starts of the node search, and
// mixes in the odds of a random sample. The package never decides which nodes are feasible.
//
// The sample is a window that slides along the node order. The package keeps the best nodes of the
// window while one node enters and one leaves. Sampling costs about O(N) for N feasible nodes, and
// O(N K) for K score groups if the ranges of raw scores change at every step.
package sampling
