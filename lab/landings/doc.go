// Package landings compares where the real kube-scheduler binds pods with Evenkeel's predictions: pod by pod with
// probabilities, and over a whole pass that balances a cluster.
//
// The predictions come from the shipped program, the landings from the API server. The package decides nothing
// itself.
package landings
