// Package oracle holds package placement to the real kube-scheduler: on seeded
// random clusters both must find the same feasible nodes, the same score of
// every plugin and the same winners. It decides nothing and starts no server.
package oracle
