package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// predictFast predicts both states with the fast predictor. It returns false if the pod
// needs the general prediction. The slices in pr are valid until the next call.
func (w *ClusterModel) predictFast(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	if w.disableFast || len(w.Nominated) > 0 {
		return false
	}
	q := w.fastPredictor()
	q.RandomSampleWeight = w.randomSampleWeight
	return q.Predict(in, p, pr)
}

// fastPredictor returns the fast predictor of the model. It builds it on first use.
func (w *ClusterModel) fastPredictor() *fast.Predictor {
	if w.fast == nil {
		w.fast = fast.NewPredictor(w.Cluster, &w.groups)
		w.OnChange = w.fast.NodeChanged
	}
	return w.fast
}
