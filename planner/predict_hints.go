package planner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// PredictHints returns the cluster as pressure hints would leave it, in a dry run that has
// rules for them: those that the rules want now are on its nodes, and those that they
// do not want are not. A run that evicts waits for them to be written, so that it and
// this plan on the same nodes. Otherwise it is s itself. What really stands on the
// nodes is kept in Snapshot.Written.
func (p *Planner) PredictHints(s *cluster.Snapshot) (*cluster.Snapshot, error) {
	if !p.opts.PredictHints {
		return s, nil
	}
	changed := p.opts.HintRules.Predict(s.Objects.Nodes, s.Objects.Usage, s.TakenAt)
	if len(changed) == 0 {
		return s, nil
	}
	objects := *s.Objects
	objects.Nodes = slices.Clone(objects.Nodes)
	written := map[string]*corev1.Node{}
	for i, n := range objects.Nodes {
		if out, is := changed[n.Name]; is {
			objects.Nodes[i], written[n.Name] = out, n
		}
	}
	out, err := cluster.New(&objects)
	if err != nil {
		return nil, err
	}
	out.ActualNodes = written
	return out, nil
}
