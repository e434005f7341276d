package filter

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/placement/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
)

func requiredFeatures(m *model.Cluster, pod *corev1.Pod) (nodedeclaredfeatures.FeatureSet, error) {
	server, err := version.ParseGeneric(fmt.Sprintf("%d.%d", m.Snap.ServerMajor, m.Snap.ServerMinor))
	if err != nil {
		return nodedeclaredfeatures.FeatureSet{}, fmt.Errorf("reading the server's version: %w", err)
	}
	return nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &pod.Spec}, server)
}

// DeclaredFeatures reports, by node, whether the node declares every feature that the pod needs;
// nil if the pod needs none.
func DeclaredFeatures(m *model.Cluster, pod *corev1.Pod) ([]bool, error) {
	need, err := requiredFeatures(m, pod)
	if err != nil || need.IsEmpty() {
		return nil, err
	}
	ok := make([]bool, len(m.Snap.Nodes))
	for i := range ok {
		has := nodedeclaredfeatures.DefaultFramework.TryMap(m.Snap.Nodes[i].Object.Status.DeclaredFeatures)
		if ok[i], err = need.IsSubset(has); err != nil {
			return nil, fmt.Errorf("comparing features of node %s: %w", m.Snap.Nodes[i].Name, err)
		}
	}
	return ok, nil
}
