// Command bench compares the eviction rates of Evenkeel and of the kubernetes-sigs descheduler. Both run on the same
// unbalanced cluster, a real control plane with fake nodes, with default and with tuned settings of the
// controller-manager.
//
// With the argument peer it also compares planning time, CPU and memory on several cluster sizes, and the imbalance
// that is left when both programs evict nothing more.
//
// All counts come from the audit log of the API server. Each step stores its result in a folder, and an interrupted
// run continues after the last finished step. The command decides nothing about evictions.
package main
