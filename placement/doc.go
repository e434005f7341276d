// Package placement foretells where the default profile of kube-scheduler puts
// the replacement of an evicted pod: which nodes pass its filters, which of
// them share the best score, and how sure that is.
//
// It decides from a cluster.Snapshot only and knows the formulas of
// kube-scheduler 1.36 and 1.37 (k8s.io/kubernetes, pkg/scheduler/framework/
// plugins) with their integer rounding. It never says whether a pod may or
// should leave, it never moves anything outside its own World, and it never
// guesses: a pod that needs what is not modelled is not Supported.
//
// Limits of what is foretold:
//
//   - From 100 nodes on the scheduler judges a sample of the feasible nodes.
//     Where it begins is not known, so every start is taken for equally likely;
//     the order of nodes is taken from their names. docs/reference/placement.md
//     says what is exact of it.
//   - Preemption, extenders and pods that are scheduled at the same moment are
//     left out. Pods that wait for the node which preemption has cleared for
//     them are counted there.
//   - A move within a World binds no volume: two pods with waiting claims may be
//     foretold the same one. Where several volumes of one size, or several
//     records of free storage, suit a claim, the first by name is taken; the
//     scheduler takes any.
//   - Where the recorded size of an image differs between nodes the scheduler
//     uses the size it saw first; here that of the first node by name.
//   - The replacement is taken to have the victim's labels and spec. During a
//     rollout another template may be used.
package placement
