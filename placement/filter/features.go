package filter

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/volumebindmountoptions"
)

// withoutBindMountOptions is the framework without the feature VolumeBindMountOptions, which
// kube-scheduler 1.36 does not know.
var withoutBindMountOptions = nodedeclaredfeatures.New(slices.DeleteFunc(slices.Clone(features.AllFeatures),
	func(f nodedeclaredfeatures.Feature) bool {
		return f.Name() == volumebindmountoptions.VolumeBindMountOptionsFeatureName
	}))

// DeclaredFeatures reports, by node, whether the node declares every feature that the pod needs;
// nil if the pod needs none, or if the cluster's scheduler does not have the filter.
func DeclaredFeatures(m *model.Cluster, pod *corev1.Pod) ([]bool, error) {
	if !m.Snap.Scheduler.DeclaredFeatures || model.FeatureBits(&pod.Spec) == 0 {
		return nil, nil
	}
	framework := nodedeclaredfeatures.DefaultFramework
	if !m.Snap.Scheduler.BindMountOptions {
		framework = withoutBindMountOptions
	}
	server, err := version.ParseGeneric(fmt.Sprintf("%d.%d", m.Snap.ServerMajor, m.Snap.ServerMinor))
	if err != nil {
		return nil, fmt.Errorf("reading the server's version: %w", err)
	}
	need, err := framework.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &pod.Spec}, server)
	if err != nil || need.IsEmpty() {
		return nil, err
	}
	ok := make([]bool, len(m.Snap.Nodes))
	for i := range ok {
		has := framework.TryMap(m.Snap.Nodes[i].Object.Status.DeclaredFeatures)
		if ok[i], err = need.IsSubset(has); err != nil {
			return nil, fmt.Errorf("comparing features of node %s: %w", m.Snap.Nodes[i].Name, err)
		}
	}
	return ok, nil
}
