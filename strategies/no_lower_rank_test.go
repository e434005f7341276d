package strategies_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestNoLowerRankAgreesWithGoals moves pods to random nodes and lets the strategy state its goals
// again. If the strategy then has a goal about the pod, and had none before or one with fewer better
// nodes, NoLowerRank must forbid the move, and only then. If a pod must leave its node anyway, every
// move is allowed.
func TestNoLowerRankAgreesWithGoals(t *testing.T) {
	for _, typ := range []string{"NodeAffinity", "NodeTaints"} {
		forbidden, allowed := 0, 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 51))
			o := preferringCluster(r)
			st := preferredStrategy(t, typ, r)
			s := must.Get(cluster.New(o))(t)
			before := goalsByPod(st.Goals(s))
			for range 30 {
				at, to := r.IntN(len(o.Pods)), r.IntN(len(s.Nodes))
				p := s.PodByUID(string(o.Pods[at].UID))
				if p.Node == cluster.NoNode || p.Node == cluster.NodeID(to) || p.Terminal || p.Terminating {
					continue
				}
				moved := *o
				moved.Pods = append([]*corev1.Pod{}, o.Pods...)
				pod := *o.Pods[at]
				pod.Spec.NodeName = s.Nodes[to].Name
				moved.Pods[at] = &pod
				after := must.Get(cluster.New(&moved))(t)
				was, is := before.of[p.ID], goalsByPod(st.Goals(after)).of[after.PodByUID(string(pod.UID)).ID]
				if is != nil && is.Targets == nil {
					continue // the scheduler places no pod there
				}
				want := is != nil && (was == nil || was.Targets != nil && count(is.Targets) > count(was.Targets))
				if was != nil && is != nil && count(is.Targets) == count(was.Targets) && !canRun(p, &s.Nodes[p.Node]) {
					continue // the targets do not show which of the two nodes ranks higher
				}
				if got := before.forbids(p, to); got != want {
					t.Fatalf("%s, seed %d: %s from %s to %s: forbidden is %v, want %v", typ, seed, pod.Name, s.Nodes[p.Node].Name, pod.Spec.NodeName, got, want)
				} else if got {
					forbidden++
				} else {
					allowed++
				}
			}
		}
		if forbidden < 50 || allowed < 50 {
			t.Errorf("%s: %d moves are forbidden and %d allowed, want more of both", typ, forbidden, allowed)
		}
	}
}

func count(nodes []bool) (n int) {
	for _, is := range nodes {
		if is {
			n++
		}
	}
	return n
}

// canRun reports whether the node could be a target for the pod.
func canRun(p *cluster.Pod, n *cluster.Node) bool {
	return filter.CanRunFunc(p.Object)(n) && (cluster.Scope{}).Virtual.Kind(n.Object) == ""
}

type podGoals struct {
	of    map[cluster.PodID]*plan.Goal
	ranks *plan.NodeRanks
}

func goalsByPod(goals []plan.Goal) podGoals {
	out := podGoals{of: map[cluster.PodID]*plan.Goal{}}
	for i := range goals {
		if goals[i].Kind == plan.NoLowerRank {
			out.ranks = goals[i].Ranks
		} else {
			out.of[goals[i].Pods[0]] = &goals[i]
		}
	}
	return out
}

func (g podGoals) forbids(p *cluster.Pod, to int) bool {
	if g.ranks == nil || g.ranks.ClassOf[p.ID] == plan.NoClass {
		return false
	}
	ranks := g.ranks.OfClass[g.ranks.ClassOf[p.ID]]
	return ranks[to] < ranks[p.Node]
}

// preferredStrategy returns a strategy with its arguments about preferences, and maybe a scope.
func preferredStrategy(t *testing.T, typ string, r *rand.Rand) strategy.Strategy {
	t.Helper()
	args := map[string]string{"NodeAffinity": `{"preferred":true}`, "NodeTaints": `{"preferNoSchedule":true}`}[typ]
	scope := cluster.Scope{}
	if r.IntN(2) == 0 {
		scope.Nodes = labels.SelectorFromSet(labels.Set{"disk": "d1"})
	}
	if r.IntN(3) == 0 {
		scope.Exclude = []string{"ns0"}
	}
	st, errs := strategies.New("s", typ, []byte(args), scope)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return st
}

// preferringCluster returns a cluster whose pods prefer some nodes and tolerate some taints.
func preferringCluster(r *rand.Rand) *cluster.Objects {
	o := simulation.Mixed(r)
	for _, n := range o.Nodes {
		n.Labels["disk"] = fmt.Sprint("d", r.IntN(3))
		for key := range 2 {
			if r.IntN(2) == 0 {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint("soft", key), Effect: corev1.TaintEffectPreferNoSchedule})
			}
		}
		n.Spec.Unschedulable = n.Spec.Unschedulable || r.IntN(8) == 0
	}
	for _, p := range o.Pods {
		term := func(value int) corev1.NodeSelectorTerm {
			return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprint("d", value)}}}}
		}
		a := &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 10, Preference: term(r.IntN(3))}, {Weight: 5, Preference: term(r.IntN(3))}}}
		if r.IntN(4) == 0 {
			a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term(1), term(2)}}
		}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: a}
		p.Spec.Tolerations = append([]corev1.Toleration{}, p.Spec.Tolerations...)
		if r.IntN(3) == 0 {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "soft0", Operator: corev1.TolerationOpExists})
		}
	}
	return o
}
