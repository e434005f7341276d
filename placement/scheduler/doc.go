// Package scheduler describes how one scheduler is configured: its filters, score
// plugins, weights, scoring strategy, and a legacy Policy. It never looks at a
// cluster and never filters or scores.
package scheduler
