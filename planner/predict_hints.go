package planner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// PredictHints returns the cluster with the pressure hints that the rules want now, and without
// those that they do not want. Snapshot.ActualNodes keeps the nodes as they really are. If the
// option PredictHints is off or the rules change no node, it returns s itself. The option is for
// dry runs. A run that evicts waits until the hints are written, so both plan on the same nodes. It
// returns an error if the changed objects form no valid snapshot.
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
