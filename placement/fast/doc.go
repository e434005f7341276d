// Package fast predicts where a replacement lands without scoring every node. The package decides how
// the plugins score that compare nodes; packages filter and score decide everything else.
//
// Finding the feasible nodes costs a few instructions per node, unless a filter must examine each node.
// With the default plugins, only nodes that can win are scored. Predictor explains the steps and their
// cost.
package fast
