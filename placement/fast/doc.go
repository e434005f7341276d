// Package fast predicts the same placement as the filters, scores and samples of the
// packages beside it, without scoring every node. It covers the default profile and
// pods without volumes, host ports or extended resources; for everything else it
// declines, and the general way predicts.
package fast
