// Package prometheus asks a Prometheus, or what speaks its API, what nodes and
// pods use.
//
// It decides what to ask, and what of an answer can be believed: an answer that is
// partial is none. It never decides what is too much.
package prometheus
