package oracle

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// countDeciding records the features that decided the cases of a cluster. At this point, the predictions equal the
// scheduler's results, so it is enough to predict again without the feature.
func (r *comparison) countDeciding(t *testing.T, o *cluster.Objects, w *placement.ClusterModel, asked []cluster.PodID) {
	t.Helper()
	full := make([]prediction.Prediction, len(asked))
	for i, p := range asked {
		full[i] = w.Predict(p)
		r.countScores(w.Explain(p))
		if !sameNodes(full[i].Terminating, full[i].Gone) {
			r.decidedBy["state of the victim"]++
		}
	}
	for _, f := range slices.Concat(podFeatures, volumeFeatures) {
		c := copyObjects(o)
		if !f.remove(c) {
			continue
		}
		less := newModel(t, c)
		for i, p := range asked {
			pr := less.Predict(p)
			if pr.UnsupportedReason != "" {
				t.Fatalf("without %s: %s", f.name, pr.UnsupportedReason)
			}
			for _, states := range [][2]prediction.State{{full[i].Terminating, pr.Terminating}, {full[i].Gone, pr.Gone}} {
				if !sameNodes(states[0], states[1]) {
					r.decidedBy[f.name]++
				}
			}
		}
	}
}

func sameNodes(a, b prediction.State) bool {
	return slices.Equal(a.Feasible, b.Feasible) && slices.Equal(a.Winners, b.Winners)
}

// countScores records the plugins without whose score other nodes would have won.
func (r *comparison) countScores(results []placement.NodeVerdict) {
	for _, gone := range []bool{false, true} {
		for k, name := range scorePlugins {
			if !slices.Equal(winnersWithoutPlugin(results, gone, -1), winnersWithoutPlugin(results, gone, k)) {
				r.decidedBy["score "+name]++
			}
		}
	}
}

// winnersWithoutPlugin returns the nodes with the highest total score if the score of one plugin is ignored.
func winnersWithoutPlugin(results []placement.NodeVerdict, gone bool, without int) (out []cluster.NodeID) {
	best := int64(-1)
	for _, v := range results {
		if v.Gone != gone || v.RefusedBy != "" {
			continue
		}
		total := v.Total
		for k, s := range v.Scores {
			if without >= 0 && s.Plugin == scorePlugins[without] {
				total -= v.Scores[k].Normalised * s.Weight
			}
		}
		if total > best {
			best, out = total, nil
		}
		if total == best {
			out = append(out, v.Node)
		}
	}
	return out
}

// copyObjects returns a copy of the objects from which features can be removed.
func copyObjects(o *cluster.Objects) *cluster.Objects {
	c := *o
	c.Pods = deepCopyAll(o.Pods, (*corev1.Pod).DeepCopy)
	c.Nodes = deepCopyAll(o.Nodes, (*corev1.Node).DeepCopy)
	c.PersistentVolumes = deepCopyAll(o.PersistentVolumes, (*corev1.PersistentVolume).DeepCopy)
	c.PersistentVolumeClaims = deepCopyAll(o.PersistentVolumeClaims, (*corev1.PersistentVolumeClaim).DeepCopy)
	c.StorageClasses = deepCopyAll(o.StorageClasses, (*storagev1.StorageClass).DeepCopy)
	c.CSINodes = deepCopyAll(o.CSINodes, (*storagev1.CSINode).DeepCopy)
	c.CSIDrivers = deepCopyAll(o.CSIDrivers, (*storagev1.CSIDriver).DeepCopy)
	c.CSIStorageCapacities = deepCopyAll(o.CSIStorageCapacities, (*storagev1.CSIStorageCapacity).DeepCopy)
	return &c
}

func deepCopyAll[T any](list []*T, copy func(*T) *T) []*T {
	out := make([]*T, len(list))
	for i, x := range list {
		out[i] = copy(x)
	}
	return out
}
