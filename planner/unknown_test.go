package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestHintsThatJudgeNoNode: the plan gives the reason if the hint rules can evaluate no node. Usage of resources
// without a rule does not count.
func TestHintsThatJudgeNoNode(t *testing.T) {
	conf := head + "load: {source: prometheus, prometheus: {url: 'http://p'}}\nhints: {enabled: true, taint: evenkeel.io/pressure, rules: [{name: cpu, resource: cpu, above: 0.9}, {name: io, promql: io, above: 9}]}\nstrategies: {}"
	usage := func(used map[string]int64) func(*cluster.Objects) {
		return func(o *cluster.Objects) {
			o.Usage = &cluster.Usage{Source: "prometheus", SampledAt: o.TakenAt,
				Nodes: []cluster.NodeUsage{{Name: o.Nodes[0].Name, At: o.TakenAt, Used: used}}}
		}
	}
	for name, c := range map[string]struct {
		change func(*cluster.Objects)
		want   string
	}{
		"one rule": {usage(map[string]int64{"rule:io": 3}), ""},
		"another figure": {usage(map[string]int64{"memory": 3000}),
			"no usage data: the last answer of prometheus is too old, or contains no usage"},
		"no answer": {func(o *cluster.Objects) { o.Usage = &cluster.Usage{Source: "prometheus"} },
			"no usage data: prometheus gave no answer"},
		"no usage": {nil, "no usage data: the snapshot holds none"},
	} {
		p := planExample(t, conf, nil, c.change)
		if p.HintsNoData != c.want {
			t.Errorf("%s: %q, want %q", name, p.HintsNoData, c.want)
		}
		if said := slices.Contains(inputProblems(p), "strategies: the hint rules cannot evaluate any node: "+c.want); said != (c.change == nil) {
			t.Errorf("%s: inputs say it: %t", name, said)
		}
		checkObjects(t, p)
	}
}

// TestAResourceThatNobodyMeasures: if no node has a measurement of a resource, the strategy states no goal, and the
// plan names the resource. Otherwise, a pod that leaves a node because of CPU could fill the disk of another node.
func TestAResourceThatNobodyMeasures(t *testing.T) {
	conf := head + "load: {source: prometheus, prometheus: {url: 'http://p', queries: {disk: d}}}\nstrategies:\n  hot: {type: NodeLoad, schedule: '@hourly', args: {basis: load, target: {cpu: 0.1, disk: 0.8}}}"
	usage := func(used map[string]int64) func(*cluster.Objects) {
		return func(o *cluster.Objects) {
			o.Usage = &cluster.Usage{Source: "prometheus", SampledAt: o.TakenAt}
			for _, n := range o.Nodes {
				o.Usage.Nodes = append(o.Usage.Nodes, cluster.NodeUsage{Name: n.Name, At: o.TakenAt, Used: used})
			}
		}
	}
	for name, c := range map[string]struct {
		change         func(*cluster.Objects)
		unknown, input string
	}{
		"disk":     {usage(map[string]int64{"cpu": 3000}), "too little usage data: the usage of disk is known for 0 of 3 nodes in scope", "prometheus: the usage of disk is known for 0 of 3 nodes in scope: strategy hot has no goal, not even for cpu or disk"},
		"both":     {usage(map[string]int64{"cpu": 3000, "disk": 1}), "", ""},
		"none":     {usage(nil), "no usage data: the last answer of prometheus is too old, or contains no usage", ""},
		"no usage": {nil, "no usage data: the snapshot holds none", ""},
		"no answer": {func(o *cluster.Objects) { o.Usage = &cluster.Usage{Source: "prometheus"} },
			"no usage data: prometheus gave no answer", ""},
	} {
		p := planExample(t, conf, nil, c.change)
		if got := p.Strategies[0]; got.NoData != c.unknown || (got.Goals == 0) != (c.unknown != "") {
			t.Errorf("%s: %+v", name, got)
		}
		if got := inputProblems(p); c.input != "" && !slices.Contains(got, c.input) {
			t.Errorf("%s: %s", name, strings.Join(got, "\n"))
		}
		checkObjects(t, p)
	}
}
