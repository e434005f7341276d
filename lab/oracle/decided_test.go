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

// count notes which features decided the cases of a cluster. What is foretold
// was found equal to the scheduler's, so it is asked what a feature changes.
func (r *run) count(t *testing.T, o *cluster.Objects, w *placement.ClusterModel, asked []cluster.PodID) {
	t.Helper()
	full := make([]prediction.Prediction, len(asked))
	for i, p := range asked {
		full[i] = w.Predict(p)
		r.countScores(w.Explain(p))
		if !same(full[i].Terminating, full[i].Gone) {
			r.decided["state of the victim"]++
		}
	}
	for _, f := range slices.Concat(podFeatures, volumeFeatures) {
		c := copied(o)
		if !f.without(c) {
			continue
		}
		less := worldOf(t, c)
		for i, p := range asked {
			pr := less.Predict(p)
			if pr.SupportedWhy != "" {
				t.Fatalf("without %s: %s", f.name, pr.SupportedWhy)
			}
			for _, states := range [][2]prediction.State{{full[i].Terminating, pr.Terminating}, {full[i].Gone, pr.Gone}} {
				if !same(states[0], states[1]) {
					r.decided[f.name]++
				}
			}
		}
	}
}

func same(a, b prediction.State) bool {
	return slices.Equal(a.Feasible, b.Feasible) && slices.Equal(a.Winners, b.Winners)
}

// countScores notes the plugins without whose score others would win.
func (r *run) countScores(verdicts []placement.NodeVerdict) {
	for _, gone := range []bool{false, true} {
		for k, name := range scorePlugins {
			if !slices.Equal(winners(verdicts, gone, -1), winners(verdicts, gone, k)) {
				r.decided["score "+name]++
			}
		}
	}
}

// winners are the nodes with the best total, the score of one plugin left out.
func winners(verdicts []placement.NodeVerdict, gone bool, without int) (out []cluster.NodeID) {
	best := int64(-1)
	for _, v := range verdicts {
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

// copied copies what features are taken out of.
func copied(o *cluster.Objects) *cluster.Objects {
	c := *o
	c.Pods = copies(o.Pods, (*corev1.Pod).DeepCopy)
	c.Nodes = copies(o.Nodes, (*corev1.Node).DeepCopy)
	c.PersistentVolumes = copies(o.PersistentVolumes, (*corev1.PersistentVolume).DeepCopy)
	c.PersistentVolumeClaims = copies(o.PersistentVolumeClaims, (*corev1.PersistentVolumeClaim).DeepCopy)
	c.StorageClasses = copies(o.StorageClasses, (*storagev1.StorageClass).DeepCopy)
	c.CSINodes = copies(o.CSINodes, (*storagev1.CSINode).DeepCopy)
	c.CSIDrivers = copies(o.CSIDrivers, (*storagev1.CSIDriver).DeepCopy)
	c.CSIStorageCapacities = copies(o.CSIStorageCapacities, (*storagev1.CSIStorageCapacity).DeepCopy)
	return &c
}

func copies[T any](list []*T, copy func(*T) *T) []*T {
	out := make([]*T, len(list))
	for i, x := range list {
		out[i] = copy(x)
	}
	return out
}
