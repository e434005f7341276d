package scheduler

// MaxScore is the highest score of a plugin, before its weight.
const MaxScore = 100

// Weights are the weights of the score plugins. A plugin with weight 0 does not score.
type Weights struct {
	TaintToleration    int64
	NodeAffinity       int64
	PodTopologySpread  int64
	InterPodAffinity   int64
	ResourcesFit       int64
	BalancedAllocation int64
	ImageLocality      int64
	VolumeBinding      int64
}

// defaultWeights are the weights of the default profile (kube-scheduler apis/config/v1,
// getDefaultPlugins).
var defaultWeights = Weights{
	TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
	ResourcesFit: 1, BalancedAllocation: 1, ImageLocality: 1, VolumeBinding: 1,
}

// ScorePlugins returns a pointer to each weight, by the scheduler's name of the plugin.
func (w *Weights) ScorePlugins() map[string]*int64 {
	return map[string]*int64{
		"TaintToleration": &w.TaintToleration, "NodeAffinity": &w.NodeAffinity,
		"PodTopologySpread": &w.PodTopologySpread, "InterPodAffinity": &w.InterPodAffinity,
		"NodeResourcesFit": &w.ResourcesFit, "NodeResourcesBalancedAllocation": &w.BalancedAllocation,
		"ImageLocality": &w.ImageLocality, "VolumeBinding": &w.VolumeBinding,
	}
}
