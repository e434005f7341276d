package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// predictFast foretells both states of the victim; false: only the general way can. The
// slices that it gives are those of the next one too.
func (w *ClusterModel) predictFast(in *Replacement, p cluster.PodID, pr *Prediction) bool {
	if w.fastOff || len(w.Nominated) > 0 {
		return false
	}
	q := w.fastPredictor()
	q.RandomSampleWeight = w.randomSampleWeight
	return q.Predict(in, p, pr)
}

// fastPredictor returns the world's quick, building it on first use.
func (w *ClusterModel) fastPredictor() *Predictor {
	if w.fast == nil {
		w.fast = NewPredictor(w.Cluster, &w.groups)
		w.OnChange = w.fast.NodeChanged
	}
	return w.fast
}
