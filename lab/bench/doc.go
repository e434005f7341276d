// Command bench measures how many evictions a second Evenkeel and its peer, the
// descheduler of kubernetes-sigs, make on the same cluster: a real control plane
// with fake nodes, from the same start state, with the controller-manager's
// default settings and with tuned ones.
//
// With the argument peer it measures more: how long both take to plan in three
// sizes, with how much CPU and memory, and what is left of imbalance when both have
// evicted until they are quiet.
//
// The audit log of the API server is the only witness. Each step leaves its
// result in a folder; a run that was broken off goes on where it stopped. The
// command decides nothing about evictions itself.
package main
