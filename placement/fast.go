package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// predictFast predicts both states of the victim. It returns false if only the full
// prediction can. The next call overwrites the slices of the prediction.
func (m *ClusterModel) predictFast(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	if m.disableFast || len(m.Nominated) > 0 {
		return false
	}
	q := m.fastPredictor()
	q.RandomSampleWeight = m.randomSampleWeight
	return q.Predict(in, p, pr)
}

// fastPredictor returns the fast predictor, and builds it on first use.
func (m *ClusterModel) fastPredictor() *fast.Predictor {
	if m.fast == nil {
		m.fast = fast.NewPredictor(m.Cluster, &m.groups)
		m.OnChange = m.fast.NodeChanged
	}
	return m.fast
}
