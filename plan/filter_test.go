package plan_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// filteredPlan has moves and goals of two namespaces, three nodes and two strategies.
func filteredPlan() plan.Plan {
	move := func(step int, namespace, from, to, strategy, goal string) plan.Move {
		return plan.Move{Step: step, Wave: step, Pod: plan.PodRef{Namespace: namespace, Name: "p"}, Owner: plan.ObjectRef{Kind: "Deployment", Name: "d"},
			From: from, To: to, Strategy: strategy, Goals: []string{goal}}
	}
	stays := func(namespace, strategy, node string) plan.Rejection {
		return plan.Rejection{Pod: plan.PodRef{Namespace: namespace, Name: "s"}, Strategy: strategy, Node: node, Reason: plan.Reason{Code: plan.NotNeeded}}
	}
	state := plan.State{Nodes: []plan.NodeState{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}},
		Workloads: []plan.WorkloadState{{Namespace: "shop", Kind: "Deployment", Name: "d"}, {Namespace: "shop", Kind: "Deployment", Name: "e"},
			{Namespace: "pay", Kind: "Deployment", Name: "d"}}}
	return plan.Plan{ID: "x", Moves: []plan.Move{move(1, "shop", "n1", "n2", "zones", "g1"), move(2, "pay", "n2", "n3", "hot", "g2")},
		Goals: []plan.Goal{{ID: "g1", Strategy: "zones", Kind: plan.SkewAtMost, Subject: plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: "d"}},
			{ID: "g2", Strategy: "hot", Kind: plan.NodeBelow, Subject: plan.ObjectRef{Kind: "Node", Name: "n2"}},
			{ID: "g3", Strategy: "hot", Kind: plan.NodeBelow, Subject: plan.ObjectRef{Kind: "Node", Name: "n3"}}},
		Bound: plan.Bound{MinEvictions: 2, UnmetGoals: []plan.UnmetGoal{{Goal: "g3"}}, ResidualByGoal: map[string]float64{"g3": 1}},
		Hints: []plan.WaveHints{{Wave: 1}, {Wave: 2}}, Pressure: []plan.PressureHint{{Node: "n3"}},
		Strategies: []plan.StrategyState{{Name: "zones"}, {Name: "hot"}}, Before: state, After: state,
		Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.NotNeeded: 3}, Samples: []plan.Rejection{stays("shop", "", "n1"), stays("pay", "hot", "n2"), stays("pay", "hot", "n3")}},
		Proposals:  []plan.Proposal{{Mode: plan.Approve, Plan: plan.Plan{Moves: []plan.Move{move(1, "pay", "n1", "n3", "hot", "g9")}}}}}
}

// shown names everything that a plan shows.
func shown(p *plan.Plan) string {
	var out []string
	for _, m := range p.Moves {
		out = append(out, m.Pod.Namespace)
	}
	for _, g := range p.Goals {
		out = append(out, g.ID)
	}
	for _, n := range p.After.Nodes {
		out = append(out, n.Name)
	}
	for _, w := range p.Before.Workloads {
		out = append(out, w.Namespace+"/"+w.Name)
	}
	for _, x := range p.Rejections.Samples {
		out = append(out, "stays:"+x.Node)
	}
	for _, u := range p.Bound.UnmetGoals {
		out = append(out, "unmet:"+u.Goal)
	}
	for _, h := range p.Pressure {
		out = append(out, "pressure:"+h.Node)
	}
	return strings.Join(out, " ")
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		filter     plan.Filter
		want, text string
	}{
		{plan.Filter{Namespaces: []string{"shop"}}, "shop g1 n1 n2 shop/d shop/e stays:n1", "Filtered: shows only namespace shop; 2 of 3 moves are left out"},
		{plan.Filter{Nodes: []string{"n3"}}, "pay g2 g3 n2 n3 pay/d stays:n3 unmet:g3 pressure:n3", "Filtered: shows only node n3; 1 of 3 moves is left out"},
		{plan.Filter{Strategies: []string{"hot"}}, "pay g2 g3 n2 n3 pay/d stays:n1 stays:n2 stays:n3 unmet:g3 pressure:n3",
			"Filtered: shows only strategy hot; 1 of 3 moves is left out"},
		{plan.Filter{Namespaces: []string{"shop", "pay"}, Strategies: []string{"zones"}}, "shop g1 n1 n2 shop/d shop/e pay/d stays:n1",
			"Filtered: shows only namespace shop or pay, strategy zones; 2 of 3 moves are left out"},
		{plan.Filter{Namespaces: []string{"none"}}, "", "Filtered: shows only namespace none; 3 of 3 moves are left out"},
	} {
		p := filteredPlan()
		got := c.filter.Select(p)
		if s := shown(&got); s != c.want {
			t.Errorf("%s: %q, want %q", c.filter.String(), s, c.want)
		}
		if text := got.FilterText(); text != c.text {
			t.Errorf("%q, want %q", text, c.text)
		}
		if all := filteredPlan(); shown(&p) != shown(&all) || shown(got.Whole()) != shown(&all) || got.ID != "x" || got.Bound.MinEvictions != 2 {
			t.Errorf("%s: the plan itself has changed", c.filter.String())
		}
		if n := got.Rejections.Counts[plan.NotNeeded]; n != len(got.Rejections.Samples) {
			t.Errorf("%s: %d pods stay, %d are listed", c.filter.String(), n, len(got.Rejections.Samples))
		}
	}
	if got := (&plan.Filter{}).Select(filteredPlan()); got.Filtered != nil || got.FilterText() != "" || len(got.Moves) != 2 {
		t.Error("a filter without names selects a part")
	}
}
