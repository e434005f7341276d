package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// threeNodes returns a snapshot of nodes n1 to n3 with 1000m of cpu each, and pods of 100m: a1 to a6 on n1, and b1 on
// n2.
func threeNodes(t *testing.T) *cluster.Snapshot {
	t.Helper()
	o := &cluster.Objects{}
	for i := range 3 {
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i+1)},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
				Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"),
					"pods": resource.MustParse("110")}}})
	}
	for i, name := range []string{"a1", "a2", "a3", "a4", "a5", "a6", "b1"} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: "n1",
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu": resource.MustParse("100m")}}}}}}
		if i == 6 {
			p.Spec.NodeName = "n2"
		}
		o.Pods = append(o.Pods, p)
	}
	s := must.Get(cluster.New(o))(t)
	return s
}

// below returns a strategy of type NodeLoad with a goal for cpu of each node.
func below(s *cluster.Snapshot, name string, limit float64) Strategy {
	st := Strategy{Name: name, Type: "NodeLoad"}
	for i := range s.Nodes {
		st.Goals = append(st.Goals, plan.Goal{Strategy: name, Kind: plan.NodeBelow, Resource: "cpu", Limit: limit, Weight: 1,
			Node: cluster.NodeID(i), Subject: plan.ObjectRef{Kind: "Node", Name: s.Nodes[i].Name}})
	}
	return st
}

// away returns a strategy with a goal for each of the pods.
func away(s *cluster.Snapshot, name, typ string, pods ...string) Strategy {
	st := Strategy{Name: name, Type: typ}
	for _, p := range pods {
		st.Goals = append(st.Goals, plan.Goal{Strategy: name, Kind: plan.PodAway, Weight: 1,
			Pods: []cluster.PodID{s.PodByKey("shop/" + p).ID}, Subject: plan.ObjectRef{Kind: "Pod", Namespace: "shop", Name: p}})
	}
	return st
}

func move(pod, from, to string) plan.Move {
	return plan.Move{Pod: plan.PodRef{Namespace: "shop", Name: pod}, From: from, To: to, Strategy: "own"}
}

func proposal(mode plan.StrategyMode, moves ...plan.Move) plan.Proposal {
	return plan.Proposal{Mode: mode, Plan: plan.Plan{Moves: moves}}
}

func rejected(pod, strategy string, code plan.Code) plan.Rejection {
	return plan.Rejection{Pod: plan.PodRef{Namespace: "shop", Name: pod}, Strategy: strategy,
		Reason: plan.Reason{Code: code, Message: "because"}}
}

// describe writes one line for each violation: its subject, result, moves, strategies and reason.
func describe(c plan.Comparison) (out []string) {
	for _, v := range c.Violations {
		line := v.Goal.Subject.Name + " " + string(v.Result)
		for _, m := range v.Moves {
			line += " " + m.Pod.Name + ">" + m.To
		}
		if len(v.Strategies) > 0 {
			line += " by " + strings.Join(v.Strategies, ",")
		}
		if v.Reason != nil {
			line += ": " + string(v.Reason.Code) + " " + v.Reason.Message
		}
		out = append(out, line)
	}
	return out
}

// TestEachResult checks what a comparison says about one violation, or none, for each result and each reason.
func TestEachResult(t *testing.T) {
	s := threeNodes(t)
	constraint := func(st Strategy, wait plan.Code) Strategy {
		for i := range st.Goals {
			if st.Goals[i].Constraint = true; wait != "" {
				st.Goals[i].Wait = plan.Reason{Code: wait, Message: "above its target in 1 of 3 samples"}
			}
		}
		return st
	}
	two := []plan.Move{move("a1", "n1", "n2"), move("a2", "n1", "n3")}
	for name, c := range map[string]struct {
		plan        plan.Plan
		own, policy Strategy
		want        []string
	}{
		"nothing found": {plan.Plan{}, below(s, "own", .5), below(s, "peer", .8), nil},
		"repaired by two moves": {plan.Plan{Moves: two}, below(s, "own", .4), below(s, "peer", .4),
			[]string{"n1 repaired a1>n2 a2>n3 by own"}},
		"repaired by another strategy": {plan.Plan{Moves: two[:1]}, below(s, "own", .5), away(s, "peer", "Lifetime", "a1"),
			[]string{"a1 repaired a1>n2"}},
		"repaired without a place": {plan.Plan{Moves: []plan.Move{move("a1", "n1", "")}}, away(s, "own", "Lifetime", "a1"),
			away(s, "peer", "Lifetime", "a1"), []string{"a1 repaired a1> by own"}},
		"improved, but left": {plan.Plan{Moves: two[:1], Rejections: plan.Rejections{Samples: []plan.Rejection{
			rejected("a2", "own", plan.NoTargetFits), rejected("a3", "own", plan.BlockedByPDB),
			rejected("a4", "own", plan.BlockedByPDB), rejected("a5", "other", plan.DaemonSetPod), rejected("b1", "own", plan.JobPod)}}},
			below(s, "own", .4), below(s, "peer", .4),
			[]string{"n1 left a1>n2 by own: BlockedByPDB because (all pods: BlockedByPDB 2, NoTargetFits 1)"}},
		"approval": {plan.Plan{Moves: two[:1], Proposals: []plan.Proposal{proposal(plan.ShowOnly, two[1]), proposal(plan.Approve, two[1])}},
			below(s, "own", .4), below(s, "peer", .4), []string{"n1 waitsForApproval a1>n2 a2>n3 by own"}},
		"only shown": {plan.Plan{Proposals: []plan.Proposal{proposal(plan.Approve), proposal(plan.ShowOnly, two...)}},
			below(s, "own", .4), below(s, "peer", .4), []string{"n1 shown a1>n2 a2>n3 by own"}},
		"caused": {plan.Plan{Moves: []plan.Move{move("a1", "n1", "n2")}}, below(s, "own", .6), below(s, "peer", .15),
			[]string{"n1 left a1>n2 by own: AllowedByStrategy strategy own finds no violation here: it allows 60%, and the policy allows 15%",
				"n2 caused a1>n2 by own"}},
		"another limit": {plan.Plan{}, below(s, "own", .8), below(s, "peer", .5), []string{
			"n1 left by own: AllowedByStrategy strategy own finds no violation here: it allows 80%, and the policy allows 50%"}},
		"another limit after moves": {plan.Plan{Moves: two[:1]}, below(s, "own", .5), below(s, "peer", .4), []string{
			"n1 left a1>n2 by own: AllowedByStrategy strategy own is met after the plan: it allows 50%, and the policy allows 40%"}},
		"other arguments": {plan.Plan{}, away(s, "own", "Lifetime"), away(s, "peer", "Lifetime", "a1"), []string{
			"a1 left: AllowedByStrategy strategy own (Lifetime) finds no violation here: its arguments or its scope differ from the policy"}},
		"another type": {plan.Plan{}, below(s, "own", .8), away(s, "peer", "Lifetime", "a1"), []string{
			"a1 left: NoStrategyForThis no configured strategy checks this; a strategy of type Lifetime would"}},
		"no data": {plan.Plan{}, Strategy{Name: "own", Type: "NodeLoad", NoData: "no usage data: gone"}, below(s, "peer", .5), []string{
			"n1 left: NoUsageData strategy own: no usage data: gone"}},
		"the strategy waits": {plan.Plan{}, constraint(below(s, "own", .5), plan.WaitsForSamples), below(s, "peer", .5), []string{
			"n1 left by own: WaitsForSamples strategy own waits: n1 is above its target in 1 of 3 samples"}},
		"not due":          {plan.Plan{}, constraint(below(s, "own", .5), ""), below(s, "peer", .5), []string{"n1 left by own: StrategyNotDue strategy own is not due"}},
		"the policy waits": {plan.Plan{}, below(s, "own", .5), constraint(below(s, "peer", .5), plan.TooFewUnderUtilized), nil},
		"no pod rejected": {plan.Plan{}, below(s, "own", .5), below(s, "peer", .5), []string{
			"n1 left by own: GoalNotMet the plan does not meet the goal of strategy own, and considered no pod for it"}},
		"rejected for another strategy": {plan.Plan{Rejections: plan.Rejections{Samples: []plan.Rejection{rejected("a5", "other", plan.DaemonSetPod)}}},
			below(s, "own", .5), below(s, "peer", .5), []string{"n1 left by own: DaemonSetPod because"}},
		"a pod that the snapshot lacks": {plan.Plan{Moves: []plan.Move{move("a9", "n1", "n2")}}, away(s, "own", "Lifetime", "a1"),
			away(s, "peer", "Lifetime", "a1"), []string{"a1 left by own: GoalNotMet the plan does not meet the goal of strategy own, and considered no pod for it"}},
	} {
		out := Compare(Input{Snapshot: s, Plan: c.plan, Own: []Strategy{c.own}, Policy: []Strategy{c.policy}})
		if got := describe(out); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		for i, v := range out.Violations {
			if want := fmt.Sprintf("v%d", i+1); v.Goal.ID != want || v.Plugin == "" {
				t.Errorf("%s: violation %q of plugin %q, want %s", name, v.Goal.ID, v.Plugin, want)
			}
		}
		p := out.Plugins[0]
		if p.Found != p.Repaired+p.WaitForApproval+p.Shown+p.Left || p.Found+p.Caused != len(out.Violations) {
			t.Errorf("%s: the counts are %+v", name, p)
		}
	}
}

// TestTooFewUnderUtilized checks that a plugin that finds nothing counts the nodes above its target, and says why it
// waits.
func TestTooFewUnderUtilized(t *testing.T) {
	s := threeNodes(t)
	for _, c := range []struct {
		limit float64
		code  plan.Code
		want  string
	}{
		{.05, plan.TooFewUnderUtilized, "each of 2 nodes is above its target, but no node is under-utilized"},
		{.5, plan.TooFewUnderUtilized, "1 node is above its target, but no node is under-utilized"},
		{.8, plan.TooFewUnderUtilized, ""},
		{.5, plan.WaitsForSamples, ""},
		{.5, "", ""},
	} {
		policy := below(s, "peer", c.limit)
		for i := range policy.Goals {
			policy.Goals[i].Wait = plan.Reason{Code: c.code, Message: "above its target, but no node is under-utilized"}
		}
		if got := Compare(Input{Snapshot: s, Policy: []Strategy{policy}}).Plugins[0].Waiting; got != c.want {
			t.Errorf("limit %v, %q: %q, want %q", c.limit, c.code, got, c.want)
		}
	}
}

// TestSpreadOfTheSamePods checks that a goal about the spread of common pods over the same domains is the same thing.
func TestSpreadOfTheSamePods(t *testing.T) {
	s := threeNodes(t)
	spread := func(name, typ string, kind plan.GoalKind, key string, limit float64, pods ...string) Strategy {
		g := plan.Goal{Strategy: name, Kind: kind, TopologyKey: key, Limit: limit, Weight: 1, Subject: plan.ObjectRef{Kind: "Deployment", Name: "a"},
			Domains: []string{"n1", "n2", "n3"}}
		if key == "zone" {
			g.Domains = []string{"z"}
		}
		for _, p := range pods {
			g.Pods = append(g.Pods, s.PodByKey("shop/"+p).ID)
		}
		return Strategy{Name: name, Type: typ, Goals: []plan.Goal{g}}
	}
	host := corev1.LabelHostname
	for i := range s.Nodes {
		s.Nodes[i].Object.Labels = map[string]string{host: s.Nodes[i].Name, "zone": "z"}
	}
	peer := spread("peer", "Duplicates", plan.CountAtMost, host, 1, "a1", "a2")
	for name, c := range map[string]struct {
		own  Strategy
		want string
	}{
		"common pods": {spread("own", "TopologySpread", plan.SkewAtMost, host, 1, "a2", "a3"), "a left by own: GoalNotMet"},
		"other pods":  {spread("own", "TopologySpread", plan.SkewAtMost, host, 1, "a3", "a4"), "a left: NoStrategyForThis"},
		"another key": {spread("own", "TopologySpread", plan.SkewAtMost, "zone", 1, "a1", "a2"), "a left: NoStrategyForThis"},
		"a larger limit": {spread("own", "Duplicates", plan.CountAtMost, host, 2, "a1", "a2"),
			"a left by own: AllowedByStrategy strategy own finds no violation here: its limit is 2 pods, and that of the policy 1 pod"},
		"another kind": {away(s, "own", "Lifetime", "a1"), "a left: NoStrategyForThis"},
	} {
		got := describe(Compare(Input{Snapshot: s, Own: []Strategy{c.own}, Policy: []Strategy{peer}}))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestEveryTypeHasAPlugin checks the plugins against the types of strategies. ZoneSpread replaces no plugin.
func TestEveryTypeHasAPlugin(t *testing.T) {
	for _, typ := range strategies.Types() {
		if known := PluginOf(typ) != typ; known == (typ == "ZoneSpread") {
			t.Errorf("%s: plugin %q", typ, PluginOf(typ))
		}
	}
	if len(plugins) != len(strategies.Types())-1 {
		t.Errorf("%d plugins for %d types", len(plugins), len(strategies.Types()))
	}
}
