// Command bench compares the eviction rates of Evenkeel and of the kubernetes-sigs descheduler. Both programs run on
// the same unbalanced cluster, a real control plane with fake nodes. The controller-manager has either default or tuned
// settings.
//
// With the argument peer, the command also compares planning time, CPU and memory on several cluster sizes, and the
// imbalance that remains after both programs stop evicting.
//
// All counts come from the audit log of the API server. Each step stores its result in a folder, and an interrupted run
// continues after the last finished step. The command itself evicts nothing.
package main
