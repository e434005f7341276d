package nodeaffinity_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	component "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/nodeaffinity"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

func TestInvalidArguments(t *testing.T) {
	for in, want := range map[string]string{
		``:                                     "",
		`{}`:                                   "",
		`null`:                                 "",
		`{"required":true,"preferred":true}`:   "",
		`{"required":false,"preferred":true}`:  "",
		`{"required":false}`:                   "want required: true or preferred: true",
		`{"required":false,"preferred":false}`: "want required: true or preferred: true",
		`{"prefered":true}`:                    "prefered: unknown argument (did you mean preferred?)",
		`{"preferred":"yes"}`:                  `preferred: want true or false, found "yes"`,
		`{"preferred":"true"}`:                 `preferred: want true or false, found "true" in quotes; drop the quotes`,
		`{"preferred":1}`:                      `preferred: want true or false, found "1"`,
		`{"required":[]}`:                      "required: want true or false, found a list",
		`{"required":false,"required":true}`:   "required: duplicate key (first on line 1)",
		`["preferred"]`:                        "want keys and values, found a list",
		`{"nodeAffinityType":["requiredDuringSchedulingIgnoredDuringExecution"]}`: "nodeAffinityType: unknown argument",
	} {
		_, errs := nodeaffinity.New("affinity", []byte(in), cluster.Scope{})
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", in, text, want)
		}
	}
}

// randomAffinity returns a node affinity over the labels of random clusters, or nil.
func randomAffinity(r *rand.Rand, nodes []*corev1.Node) *corev1.Affinity {
	values := func(key string) []string {
		return []string{nodes[r.IntN(len(nodes))].Labels[key], "other"}[:1+r.IntN(2)]
	}
	term := func() (t corev1.NodeSelectorTerm) {
		for range r.IntN(3) {
			key := []string{"disk", "topology.kubernetes.io/zone", "kubernetes.io/hostname"}[r.IntN(3)]
			op := []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}[r.IntN(2)]
			t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values(key)})
		}
		if r.IntN(8) == 0 {
			t.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn,
				Values: []string{nodes[r.IntN(len(nodes))].Name}}}
		}
		if r.IntN(20) == 0 {
			t.MatchExpressions = []corev1.NodeSelectorRequirement{{Key: "disk", Operator: "Near", Values: values("disk")}}
		}
		return t
	}
	a := &corev1.NodeAffinity{}
	for range r.IntN(3) {
		a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 1 + r.Int32N(4), Preference: term()})
	}
	if r.IntN(2) == 0 {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term(), term()}}
	}
	return &corev1.Affinity{NodeAffinity: a}
}

// randomCluster returns a cluster whose pods have random node constraints, which their nodes may violate.
func randomCluster(t *testing.T, r *rand.Rand) *cluster.Snapshot {
	t.Helper()
	o := simulation.Mixed(r)
	for _, n := range o.Nodes {
		n.Labels["disk"] = []string{"ssd", "hdd", "nvme"}[r.IntN(3)]
	}
	specs := map[string]func(*corev1.PodSpec){}
	for _, p := range o.Pods {
		c := metav1.GetControllerOf(p)
		if c == nil {
			continue
		}
		if specs[c.Name] == nil {
			affinity, disk := randomAffinity(r, o.Nodes), []string{"ssd", "hdd", "", ""}[r.IntN(4)]
			specs[c.Name] = func(s *corev1.PodSpec) {
				s.Affinity = affinity
				if disk != "" {
					s.NodeSelector = map[string]string{"disk": disk}
				}
			}
		}
		specs[c.Name](&p.Spec)
	}
	s := must.Get(cluster.New(o))(t)
	return s
}

// expectedGoals finds the goals the slow way, node by node for each pod, with the functions of the scheduler.
func expectedGoals(s *cluster.Snapshot) (out []string) {
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal || !podfilter.InScope(s, cluster.Scope{}, p) {
			continue
		}
		if ok, err := component.GetRequiredNodeAffinity(p.Object).Match(s.Nodes[p.Node].Object); err == nil && !ok {
			out = append(out, p.Object.Name+" NodeAffinityViolated []")
			continue
		}
		if p.Object.Spec.Affinity == nil || p.Object.Spec.Affinity.NodeAffinity == nil {
			continue
		}
		preferred, err := component.NewPreferredSchedulingTerms(p.Object.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err != nil {
			continue
		}
		var better []string
		targets := target.New(s, cluster.Scope{}, nil).OfNodes()
		for j := range s.Nodes {
			n := &s.Nodes[j]
			if preferred.Score(n.Object) > preferred.Score(s.Nodes[p.Node].Object) && filter.CanRunFunc(p.Object)(n) &&
				targets[j] {
				better = append(better, n.Name)
			}
		}
		if len(better) > 0 {
			out = append(out, fmt.Sprint(p.Object.Name, " BetterNodeExists ", better))
		}
	}
	return out
}

// TestGoalsEqualExpectedGoals compares the goals on random clusters with those that expectedGoals finds.
func TestGoalsEqualExpectedGoals(t *testing.T) {
	found := map[plan.Code]int{}
	for seed := range uint64(150) {
		s := randomCluster(t, rand.New(rand.NewPCG(seed, 18)))
		st, errs := nodeaffinity.New("affinity", []byte(`{"preferred":true}`), cluster.Scope{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		var got []string
		for _, g := range st.Goals(s) {
			if g.Kind == plan.NoLowerRank {
				continue
			}
			targets := []string{}
			for n, ok := range g.Targets {
				if ok {
					targets = append(targets, s.Nodes[n].Name)
				}
			}
			got = append(got, fmt.Sprint(g.Subject.Name, " ", g.Reason.Code, " ", targets))
			found[g.Reason.Code]++
		}
		want := expectedGoals(s)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	if found[plan.NodeAffinityViolated] < 100 || found[plan.BetterNodeExists] < 100 {
		t.Errorf("too few goals: %v", found)
	}
}
