package main

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// configContext returns what a report shows of the configuration.
func configContext(c *config.Config) *view.Context {
	return &view.Context{Evicts: !c.DryRun, PerMinute: float64(c.PerMinute()), VerifyTimeout: time.Duration(c.Evictor.VerifyTimeout), Config: c.Text()}
}

// reportContext returns what a report shows besides the plan.
func (in *planningInput) reportContext(fromFiles bool) *view.Context {
	c := configContext(in.conf)
	c.Snapshot, c.Pods, c.Targets = fromFiles, len(in.snapshot.Pods), view.TargetsOf(in.goals)
	c.PoolLabel, c.Pools = pools(in.conf, in.snapshot)
	return c
}

// pools returns the label that names the pools, and the pool of each node: a label by which the configuration selects
// nodes and that has several values, or else the first label of an autoscaler or provider.
func pools(c *config.Config, s *cluster.Snapshot) (label string, of map[string]string) {
	keys := selectedKeys(c.NodeSelector)
	for _, st := range c.Strategies {
		keys = append(keys, selectedKeys(st.NodeSelector)...)
	}
	for _, key := range append(keys, cluster.PoolLabels...) {
		of, values := map[string]string{}, map[string]bool{}
		for i := range s.Nodes {
			if v, has := s.Nodes[i].Label(key); has {
				of[s.Nodes[i].Name], values[v] = v, true
			}
		}
		if len(values) > 1 || len(values) == 1 && slices.Contains(cluster.PoolLabels, key) {
			return key, of
		}
	}
	return "", nil
}

// selectedKeys returns the labels that a valid selector names.
func selectedKeys(selector string) (keys []string) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil
	}
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		keys = append(keys, r.Key())
	}
	return keys
}
