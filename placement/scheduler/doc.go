// Package scheduler describes the configuration of one scheduler: its filters, score plugins, weights and scoring
// strategy. The package decides which scheduler configurations are supported. The package never reads a cluster,
// filters or scores.
package scheduler
