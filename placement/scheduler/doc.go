// Package scheduler describes the configuration of one scheduler: its filters, score
// plugins, weights, scoring strategy, or a legacy Policy. It decides which
// configurations are supported. It never reads a cluster, filters or scores.
package scheduler
