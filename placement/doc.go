// Package placement predicts where kube-scheduler places the replacement of an evicted pod: which
// nodes pass its filters, which of them share the best score, and the probability of each.
//
// It reads only a cluster.Snapshot. It uses the formulas of kube-scheduler 1.33 to 1.37 (k8s.io/kubernetes,
// pkg/scheduler/framework/plugins) with their integer rounding. The package cluster/kubeversion says how these versions
// differ. Placement never decides whether a pod may or should be evicted, and it never changes anything outside its
// ClusterModel. If a pod needs a feature that the model does not have, the pod is not supported and there is no
// prediction.
//
// Limits of the predictions:
//
//   - In clusters of 100 or more nodes, the scheduler scores only a sample of the feasible nodes.
//     The first node of the sample is not known, so every first node is equally likely. The model
//     orders nodes by name. docs/reference/placement.md says which of these results are exact.
//   - The model ignores preemption, extenders and pods that are scheduled at the same moment. It
//     counts nominated pods on their nominated node.
//   - A move in the model binds no volume, so two pods with unbound claims may get the same volume.
//     If several volumes of one size, or several storage capacities, match a claim, the model takes
//     the first by name. The scheduler takes any.
//   - If nodes report different sizes of an image, the scheduler uses the first size that it saw.
//     The model uses the size on the first node by name.
//   - The model assumes that the replacement has the victim's labels and spec. During a rollout,
//     the replacement may have another template.
package placement
