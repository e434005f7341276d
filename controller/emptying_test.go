package controller_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// packing is a configuration that empties nodes, and keeps them empty for a day.
const packing = "strategies:\n  pack: {type: NodeConsolidation, schedule: '0 * * * *', args: {below: {cpu: 0.3}}}\n"

// newEmptyingController returns a controller with a plan that empties n1 by two waves and n2 by one. The first
// eviction ends with the outcome.
func newEmptyingController(t *testing.T, first plan.OutcomeKind, code plan.Code, writer *fakeHintWriter) (*controller.Controller, *scriptedEvictor, plan.Plan) {
	t.Helper()
	pod := func(name string) plan.PodRef { return plan.PodRef{Namespace: "shop", Name: name, UID: name} }
	node := func(id, name string) plan.Goal {
		return plan.Goal{ID: id, Kind: plan.NodeEmpty, Strategy: "pack", Subject: plan.ObjectRef{Kind: "Node", Name: name}, Excess: 1}
	}
	p := plan.Plan{Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n1"}}}, Moves: []plan.Move{
		{Step: 1, Wave: 1, Pod: pod("web-0"), From: "n1", Goals: []string{"g1"}},
		{Step: 2, Wave: 2, Pod: pod("web-1"), From: "n1", Goals: []string{"g1"}},
		{Step: 3, Wave: 2, Pod: pod("web-2"), From: "n2", Goals: []string{"g2"}},
	}, Goals: []plan.Goal{node("g1", "n1"), node("g2", "n2"), node("g3", "n3")}}
	p.Goals[2].Excess = 0 // no move empties n3
	e := &scriptedEvictor{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Pod: pod("web-0"), Outcome: first,
		Reason: plan.Reason{Code: code, Message: "the API server refused the eviction"}}}}}}
	c, o := newController(t, e, plan.Live)
	c.Planner, c.HintWriter, c.Steer, c.Strategies = scriptedPlanner{plan: p}, writer, hints.Taint, loadConfig(t, packing).BuildStrategies()
	p.Cluster.UID, p.Expires = o.s.ClusterUID, c.Clock.Now().Add(time.Hour)
	p.ID = plan.ContentID(p)
	return c, e, p
}

// emptyingReport runs the plan of newEmptyingController.
func emptyingReport(t *testing.T, first plan.OutcomeKind, code plan.Code, writer *fakeHintWriter) (plan.RunReport, []int) {
	t.Helper()
	c, e, _ := newEmptyingController(t, first, code, writer)
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	var steps []int
	for _, wave := range e.waves {
		for _, m := range wave {
			steps = append(steps, m.Step)
		}
	}
	return r, steps
}

// TestNodeWithAPodThatStays checks that no further pod leaves a node after an eviction from it has
// failed. Only nodes that are empty keep a hint.
func TestNodeWithAPodThatStays(t *testing.T) {
	for _, c := range []struct {
		first plan.OutcomeKind
		code  plan.Code
		want  []int
		kept  string
	}{
		{plan.Evicted, "", []int{1, 2, 3}, "n1 n2"},
		{plan.AlreadyGone, plan.PodGoneAlready, []int{1, 2, 3}, "n1 n2"},
		{plan.InProgress, plan.EvictionInBackground, []int{1, 2, 3}, "n2"},
		{plan.Blocked, plan.BlockedByPDB, []int{1, 3}, "n2"},
		{plan.Dropped, plan.PremiseChanged, []int{1, 3}, "n2"},
		{plan.UnknownOutcome, plan.OutcomeUnknown, []int{1, 3}, "n2"},
	} {
		writer := &fakeHintWriter{on: map[string]hints.Hint{}}
		r, got := emptyingReport(t, c.first, c.code, writer)
		if !slices.Equal(got, c.want) {
			t.Errorf("after the outcome %s: steps %v were executed, want %v; %+v", c.first, got, c.want, r.Outcomes)
		}
		if kept := strings.Join(slices.Sorted(maps.Keys(writer.on)), " "); kept != c.kept {
			t.Errorf("after the outcome %s: hints on %q, want %q", c.first, kept, c.kept)
		}
		start := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
		for _, h := range writer.on {
			if !h.KeepsEmpty() || h.Kind != hints.Taint || h.Expired(start) || !h.Expired(start.Add(24*time.Hour)) {
				t.Errorf("after the outcome %s: the hint is %+v", c.first, h)
			}
		}
	}
}

// TestApprovedPlansKeepNodesEmpty checks that a plan that a person approved leaves the same hints as
// one that a pass makes, and that no plan leaves hints without steering or for a strategy that keeps
// no node empty.
func TestApprovedPlansKeepNodesEmpty(t *testing.T) {
	for name, want := range map[string]string{"pass": "n1 n2", "approved": "n1 n2", "no steering": "", "not kept": "", "dry run": "", "n1 was deleted": "n2"} {
		writer := &fakeHintWriter{on: map[string]hints.Hint{}}
		c, _, p := newEmptyingController(t, plan.Evicted, "", writer)
		var err error
		switch name {
		case "pass":
			_, err = c.RunOnce(t.Context(), nil)
		case "n1 was deleted":
			writer.missing = "n1"
			_, err = c.RunOnce(t.Context(), nil)
		case "dry run":
			c.Mode = plan.DryRun
			_, err = c.RunOnce(t.Context(), nil)
		case "no steering":
			c.Steer = hints.None
			_, err = apply(t.Context(), t, c, p)
		case "not kept":
			c.Strategies = loadConfig(t, strings.Replace(packing, "args: {", "args: {keepEmptyFor: 0s, ", 1)).BuildStrategies()
			_, err = apply(t.Context(), t, c, p)
		default:
			_, err = apply(t.Context(), t, c, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Join(slices.Sorted(maps.Keys(writer.on)), " "); kept != want {
			t.Errorf("%s: hints on %q, want %q", name, kept, want)
		}
	}
}

// keptNode is a cluster with an empty node n1, on which a hint keeps new pods away until EXPIRES.
const keptNode = `
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: n1, labels: {pool: a}, annotations: {evenkeel.io/steer-run: empty-r0, evenkeel.io/steer-kind: taint, evenkeel.io/steer-expires: "EXPIRES"}}, spec: {taints: [{key: evenkeel.io/steer, effect: PreferNoSchedule}]}}
- {kind: Node, metadata: {name: n2}}
- {kind: DaemonSet, metadata: {name: agent}, requests: {cpu: 100m}, pods: [1 on n1, 1 on n2]}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 4}, pods: [1 on n2]}
`

// TestHintsOnEmptyNodesAreRenewed checks that a pass renews a hint that keeps an empty node empty, as
// long as a strategy wants the node to be empty, and that other hints expire.
func TestHintsOnEmptyNodesAreRenewed(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	until := func(d time.Duration) string { return start.Add(d).Format(time.RFC3339) }
	const renewed, removed = "until 2026-01-01T23:59:30Z", "removed"
	for _, c := range []struct {
		name, expires, want string
		change              func(o *cluster.Objects)
		config, steer       string
	}{
		{"more than half of the lifetime is left", until(13 * time.Hour), "", nil, "", ""},
		{"less than half is left", until(11 * time.Hour), renewed, nil, "", ""},
		{"expired", until(-time.Hour), renewed, nil, "", ""},
		{"the expiry is unreadable", "soon", removed, nil, "", ""},
		{"the expiry is too late", until(25 * time.Hour), removed, nil, "", ""},
		{"a shorter keepEmptyFor", until(2 * time.Hour), "until 2026-01-01T06:00:30Z", nil, strings.Replace(packing, "args: {", "args: {keepEmptyFor: 6h, ", 1), ""},
		{"nodes are not kept empty", until(time.Hour), "", nil, strings.Replace(packing, "args: {", "args: {keepEmptyFor: 0s, ", 1), ""},
		{"the strategy only shows", until(time.Hour), "", nil, strings.Replace(packing, "pack: {", "pack: {mode: dryRun, ", 1), ""},
		{"no strategy empties nodes", until(-time.Hour), removed, nil, "strategies: {}", ""},
		{"out of scope", until(time.Hour), "", nil, strings.Replace(packing, "pack: {", "pack: {nodeSelector: 'pool=b', ", 1), ""},
		{"a pod runs there", until(-time.Hour), removed, func(o *cluster.Objects) { o.Pods[2].Spec.NodeName = "n1" }, "", ""},
		{"the node is excluded", until(time.Hour), "", func(o *cluster.Objects) { o.Nodes[0].Annotations["evenkeel.io/exclude"] = "true" }, "", ""},
		{"steering is off", until(-time.Hour), removed, nil, "", "none"},
		{"steering by label", until(time.Hour), "", nil, "", "label"},
		{"the hint of a wave", until(time.Hour), "", func(o *cluster.Objects) { o.Nodes[0].Annotations["evenkeel.io/steer-run"] = "r0" }, "", ""},
	} {
		e := &scriptedEvictor{}
		con, o := newController(t, e, plan.Live)
		objects := (&scenario.Scenario{Cluster: []byte(strings.Replace(keptNode, "EXPIRES", c.expires, 1))}).Objects(t)
		if c.change != nil {
			c.change(objects)
		}
		o.s = snapshotOf(t, objects)
		before := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "empty-r0"}
		before.Expires, _ = time.Parse(time.RFC3339, c.expires)
		writer := &fakeHintWriter{on: map[string]hints.Hint{"n1": before}}
		con.HintWriter, con.Steer = writer, hints.Kind(cmp.Or(c.steer, "taint"))
		con.Strategies = loadConfig(t, cmp.Or(c.config, packing)).BuildStrategies()
		if _, err := con.RunOnce(t.Context(), []string{"another"}); err != nil {
			t.Fatal(err)
		}
		got := ""
		switch h, on := writer.on["n1"]; {
		case !on:
			got = removed
		case h != before && h.Run == before.Run && h.Kind == hints.Taint:
			got = "until " + h.Expires.Format(time.RFC3339)
		case h != before:
			got = fmt.Sprintf("%+v", h)
		}
		if got != c.want || len(e.waves) > 0 {
			t.Errorf("%s: the hint is %q, want %q (empty: unchanged); %v", c.name, got, c.want, writer.log)
		}
	}
}
