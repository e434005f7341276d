// Package sampling predicts the winner where kube-scheduler scores only a sample of
// the feasible nodes: it adds up the outcomes over every start of the search. It
// never decides which nodes are feasible.
package sampling
