// Package landings compares where the real kube-scheduler process puts pods with
// what Evenkeel foretold: pod by pod against probabilities, and over a whole
// pass that balances a cluster.
//
// What was foretold is taken from the shipped program, where pods land from the
// API server. It decides nothing itself.
package landings
