package nodetaints_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/nodetaints"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

func TestInvalidArguments(t *testing.T) {
	scope := cluster.Scope{Hints: cluster.HintMarks{Taints: []string{"evenkeel.io/steer"}}}
	for in, want := range map[string]string{
		``: "",
		`{"preferNoSchedule":true,"include":["gpu","dedicated=db","example.com/x="]}`: "",
		`{"exclude":["node.kubernetes.io/unschedulable"]}`:                            "",
		`{"include":["gpu"],"exclude":["a"]}`:                                         "want either include or exclude, not both",
		`{"include":["gpu:NoSchedule"]}`: `include[0]: "gpu:NoSchedule" names an effect, but a taint counts with NoSchedule, ` +
			`and with PreferNoSchedule if preferNoSchedule is true (want "gpu")`,
		`{"exclude":["a=b:NoExecute"]}`: `exclude[0]: "a=b:NoExecute" names an effect, but a taint counts with NoSchedule, ` +
			`and with PreferNoSchedule if preferNoSchedule is true (want "a=b")`,
		`{"include":["a b"]}`:               `include[0]: "a b" is not a taint (want key or key=value, such as dedicated=database)`,
		`{"include":["a=b c"]}`:             `include[0]: "a=b c" is not a taint (want key or key=value, such as dedicated=database)`,
		`{"include":[""]}`:                  `include[0]: "" is not a taint (want key or key=value, such as dedicated=database)`,
		`{"include":["a","a=b","a"]}`:       `include[2]: "a" occurs twice`,
		`{"include":["evenkeel.io/steer"]}`: "include[0]: evenkeel.io/steer is a hint of Evenkeel, which keeps new pods away and never evicts any (remove it)",
		`{"include":"gpu"}`:                 "include: want a list, found \"gpu\" (did you mean [gpu]?)",
		`{"include":[{"key":"gpu"}]}`:       "include[0]: want a word, found keys and values",
		`{"preferNoSchedule":"yes"}`:        `preferNoSchedule: want true or false, found "yes"`,
		`{"includePreferNoSchedule":true}`:  "includePreferNoSchedule: unknown argument (did you mean preferNoSchedule?)",
		`{"excludedTaints":["a"]}`:          "excludedTaints: unknown argument (did you mean exclude?)",
	} {
		_, errs := nodetaints.New("taints", []byte(in), scope)
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", in, text, want)
		}
	}
}

// randomCluster returns a cluster with random taints and tolerations.
func randomCluster(t *testing.T, r *rand.Rand) *cluster.Snapshot {
	t.Helper()
	o := simulation.Mixed(r)
	keys, effects := []string{"a", "b", "c"}, []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
		corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	for _, n := range o.Nodes {
		for _, key := range keys[r.IntN(4):] {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: keys[r.IntN(2)], Effect: effects[r.IntN(4)]})
		}
	}
	tolerations := map[string][]corev1.Toleration{}
	for _, p := range o.Pods {
		if c := metav1.GetControllerOf(p); c != nil {
			if _, known := tolerations[c.Name]; !known {
				for _, key := range keys[r.IntN(4):] {
					tolerations[c.Name] = append(tolerations[c.Name], corev1.Toleration{Key: key, Value: keys[r.IntN(2)],
						Operator: []corev1.TolerationOperator{"", corev1.TolerationOpExists}[r.IntN(2)]})
				}
				tolerations[c.Name] = append(tolerations[c.Name], corev1.Toleration{Key: "unused"})
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, tolerations[c.Name]...)
		}
	}
	s := must.Get(cluster.New(o))(t)
	return s
}

// untolerated counts the taints of an effect that the pod does not tolerate.
func untolerated(p *corev1.Pod, n *cluster.Node, effect corev1.TaintEffect) (count int) {
	for i := range n.Object.Spec.Taints {
		if taint := &n.Object.Spec.Taints[i]; taint.Effect == effect && (nodemarks.Table{}).OfTaint(taint) == nil &&
			!filter.ToleratesTaint(p, taint) {
			count++
		}
	}
	return count
}

// expectedGoals finds the goals the slow way, node by node for each pod.
func expectedGoals(s *cluster.Snapshot) (out []string) {
	targets := target.New(s, cluster.Scope{}, nil).OfNodes()
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal || !podfilter.InScope(s, cluster.Scope{}, p) {
			continue
		}
		own := &s.Nodes[p.Node]
		if untolerated(p.Object, own, corev1.TaintEffectNoSchedule) > 0 {
			out = append(out, p.Object.Name+" []")
			continue
		}
		var better []string
		for j := range s.Nodes {
			n := &s.Nodes[j]
			if untolerated(p.Object, n, corev1.TaintEffectPreferNoSchedule) < untolerated(p.Object, own, corev1.TaintEffectPreferNoSchedule) &&
				filter.CanRunFunc(p.Object)(n) && targets[j] {
				better = append(better, n.Name)
			}
		}
		if len(better) > 0 {
			out = append(out, fmt.Sprint(p.Object.Name, " ", better))
		}
	}
	return out
}

// TestGoalsEqualExpectedGoals compares the goals on random clusters with those that expectedGoals finds.
func TestGoalsEqualExpectedGoals(t *testing.T) {
	hard, soft := 0, 0
	for seed := range uint64(150) {
		s := randomCluster(t, rand.New(rand.NewPCG(seed, 19)))
		st, errs := nodetaints.New("taints", []byte(`{"preferNoSchedule":true}`), cluster.Scope{})
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
			got = append(got, fmt.Sprint(g.Subject.Name, " ", targets))
			if g.Targets == nil {
				hard++
			} else {
				soft++
			}
		}
		want := expectedGoals(s)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	if hard < 100 || soft < 100 {
		t.Errorf("too few goals: %d about NoSchedule, %d about PreferNoSchedule", hard, soft)
	}
}
