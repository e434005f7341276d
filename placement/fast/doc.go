// Package fast predicts where a replacement lands without scoring every node. The result equals
// that of packages filter, score and sampling.
//
// The package supports the default plugins, and pods without volumes, host ports, ephemeral storage
// or extended resources. Predict returns false for all other pods, and the caller then uses the
// general prediction. The package never decides how a plugin scores; it only avoids work.
//
// Finding the feasible nodes costs a few instructions per node. Only nodes that can win are scored.
// Predictor explains the steps and their cost.
package fast
