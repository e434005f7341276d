package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// quickly foretells both states of the victim; false: only the general way can. The
// slices that it gives are those of the next one too.
func (w *World) quickly(in *incoming, p cluster.PodID, pr *Prediction) bool {
	if w.general || len(w.nominated) > 0 {
		return false
	}
	q := w.quickOf()
	q.scattered = w.scattered
	return q.predict(in, p, pr)
}

// quickOf returns the world's quick, building it on first use.
func (w *World) quickOf() *quick {
	if w.quick == nil {
		w.quick = newQuick(&w.clusterState, &w.groups)
		w.onChange = w.quick.look
	}
	return w.quick
}
