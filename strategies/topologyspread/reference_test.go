package topologyspread_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// expectedGoals returns the goals as text, computed the slow way: for each constraint of each pod,
// it looks at every node and every pod, as kube-scheduler does when it places the pod.
func expectedGoals(s *cluster.Snapshot, actions []string) []string {
	found := map[string]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node == cluster.NoNode || p.Terminating || p.Terminal || p.BelongsToNode() {
			continue
		}
		for j := range p.Object.Spec.TopologySpreadConstraints {
			c := &p.Object.Spec.TopologySpreadConstraints[j]
			if slices.Contains(actions, string(c.WhenUnsatisfiable)) {
				if text := expectedGoal(s, p.Object, c); text != "" {
					found[text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func expectedGoal(s *cluster.Snapshot, p *corev1.Pod, c *corev1.TopologySpreadConstraint) string {
	sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil || sel.Empty() && len(c.MatchLabelKeys) == 0 {
		return ""
	}
	for _, k := range c.MatchLabelKeys {
		if v, ok := p.Labels[k]; ok && c.LabelSelector != nil {
			more, _ := labels.SelectorFromSet(labels.Set{k: v}).Requirements()
			sel = sel.Add(more...)
		}
	}
	if sel.Empty() || !sel.Matches(labels.Set(p.Labels)) {
		return ""
	}
	domains, not := map[string]bool{}, []string{}
	for i := range s.Nodes {
		if n := s.Nodes[i].Object; isCounted(p, c, n) {
			domains[n.Labels[c.TopologyKey]] = true
		} else {
			not = append(not, n.Name)
		}
	}
	var pods []string
	for i := range s.Pods {
		q := &s.Pods[i]
		if q.Node != cluster.NoNode && !q.Terminating && !q.Terminal && q.Object.Namespace == p.Namespace && sel.Matches(labels.Set(q.Object.Labels)) {
			pods = append(pods, q.Object.Name)
		}
	}
	kind := plan.SkewAtMost
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && len(domains) < int(ptr.Deref(c.MinDomains, 1)) {
		kind = plan.CountAtMost
	}
	if len(pods) <= int(c.MaxSkew) || len(domains) == 0 || len(domains) == 1 && kind == plan.SkewAtMost {
		return ""
	}
	return goalText(kind, int(c.MaxSkew), p.Namespace, c.TopologyKey, slices.Sorted(maps.Keys(domains)), not, pods)
}

// isCounted reports whether a constraint of the pod counts the node.
func isCounted(p *corev1.Pod, c *corev1.TopologySpreadConstraint, n *corev1.Node) bool {
	for i := range p.Spec.TopologySpreadConstraints {
		other := &p.Spec.TopologySpreadConstraints[i]
		if _, has := n.Labels[other.TopologyKey]; !has && other.WhenUnsatisfiable == c.WhenUnsatisfiable {
			return false
		}
	}
	matches, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(logr.Discard(), n.Spec.Taints, p.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, true)
	if c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore {
		matches = true
	}
	return matches && (!untolerated || c.NodeTaintsPolicy == nil || *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyIgnore)
}

func goalText(kind plan.GoalKind, limit int, ns, key string, domains, not, pods []string) string {
	return fmt.Sprintf("%s %d in %s over %s (%s) not (%s): %s", kind, limit, ns, key, strings.Join(domains, " "), strings.Join(not, " "), strings.Join(pods, " "))
}

// addRandomConstraints adds random constraints to pods, the same for all pods of a controller.
func addRandomConstraints(r *rand.Rand, o *cluster.Objects) {
	policies := []*corev1.NodeInclusionPolicy{nil, ptr.To(corev1.NodeInclusionPolicyHonor), ptr.To(corev1.NodeInclusionPolicyIgnore)}
	specs := map[string]corev1.PodSpec{}
	for _, p := range o.Pods {
		owner := p.Namespace + "/" + p.Name
		if c := metav1.GetControllerOf(p); c != nil {
			owner = p.Namespace + "/" + c.Name
		}
		spec, known := specs[owner]
		if !known {
			for range r.IntN(4) {
				c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.IntN(2)), WhenUnsatisfiable: corev1.DoNotSchedule,
					TopologyKey:        []string{corev1.LabelTopologyZone, corev1.LabelHostname, "pool"}[r.IntN(3)],
					NodeAffinityPolicy: policies[r.IntN(3)], NodeTaintsPolicy: policies[r.IntN(3)]}
				if r.IntN(3) == 0 {
					c.WhenUnsatisfiable = corev1.ScheduleAnyway
				} else if r.IntN(3) == 0 {
					c.MinDomains = ptr.To(int32(1 + r.IntN(5)))
				}
				switch r.IntN(5) {
				case 0:
				case 1:
					c.LabelSelector = &metav1.LabelSelector{}
				default:
					c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{}}
					for k, v := range p.Labels {
						if k == "app" || r.IntN(2) == 0 {
							c.LabelSelector.MatchLabels[k] = v
						}
					}
				}
				if r.IntN(2) == 0 {
					c.MatchLabelKeys = [][]string{{"pod-template-hash", "controller-revision-hash"}, {"slot"}}[r.IntN(2)]
				}
				spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
			}
			if r.IntN(3) == 0 {
				spec.NodeSelector = map[string]string{"pool": "general"}
			}
			if r.IntN(3) == 0 {
				spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			}
			specs[owner] = spec
		}
		p.Spec.TopologySpreadConstraints, p.Spec.NodeSelector = spec.TopologySpreadConstraints, spec.NodeSelector
		p.Spec.Tolerations = append(p.Spec.Tolerations, spec.Tolerations...)
		if p.Labels = maps.Clone(p.Labels); p.Labels != nil && r.IntN(3) > 0 {
			p.Labels["slot"] = []string{"a", "b"}[r.IntN(2)]
		}
		if r.IntN(2) == 0 { // as in a snapshot that was read from a file
			p.Spec = *p.Spec.DeepCopy()
		}
	}
}

// TestGoalsEqualExpectedGoals compares the goals on random clusters with those that expectedGoals computes.
func TestGoalsEqualExpectedGoals(t *testing.T) {
	goals, kinds := 0, map[string]bool{}
	for seed := range uint64(90) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := simulation.Mixed(r)
		addRandomConstraints(r, o)
		s := must.Get(cluster.New(o))(t)
		actions := [][]string{{"DoNotSchedule"}, {"ScheduleAnyway"}, {"DoNotSchedule", "ScheduleAnyway"}}[seed%3]
		args := fmt.Sprintf(`{"whenUnsatisfiable": ["%s"]}`, strings.Join(actions, `", "`))
		st, errs := topologyspread.New("constraints", []byte(args), cluster.Scope{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		found := map[string]bool{}
		for _, g := range st.Goals(s) {
			var not, pods []string
			for i, left := range g.NotCounted {
				if left {
					not = append(not, s.Nodes[i].Name)
				}
			}
			for _, id := range g.Pods {
				pods = append(pods, s.Pods[id].Object.Name)
			}
			found[goalText(g.Kind, int(g.Limit), g.Subject.Namespace, g.TopologyKey, g.Domains, not, pods)] = true
			goals++
			kinds[fmt.Sprint(g.Kind, g.TopologyKey, len(g.Domains), len(not) > 0)] = true
		}
		if got, want := slices.Sorted(maps.Keys(found)), expectedGoals(s, actions); !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v:\n got %s\nwant %s", seed, actions, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	if goals < 300 || len(kinds) < 15 {
		t.Errorf("compared only %d goals of %d kinds, want at least 300 of 15", goals, len(kinds))
	}
}
