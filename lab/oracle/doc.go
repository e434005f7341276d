// Package oracle holds package placement to the real kube-scheduler: on seeded
// random clusters both must find the same feasible nodes and the same score of
// every plugin. It decides nothing and starts no server.
package oracle
