package zonespread_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// expectedGoal computes the domains and the message of a goal the slow way: it checks every node for every pod of the
// group, and sorts all domains.
func expectedGoal(s *cluster.Snapshot, scope cluster.Scope, g plan.Goal) (domains []string, message string) {
	found, count, targets := map[string]bool{}, map[string]int{}, target.New(s, scope, nil)
	for _, id := range g.Pods {
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if v, ok := n.Label(g.TopologyKey); ok && scope.HasNode(n) && targets.CanRunFunc(&s.Pods[id])(n) {
				found[v] = true
			}
		}
		if v, ok := s.Nodes[s.Pods[id].Node].Label(g.TopologyKey); ok {
			count[v]++
		}
	}
	domains = slices.Sorted(maps.Keys(found))
	order, total := slices.Clone(domains), 0
	for _, d := range domains {
		total += count[d]
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	share := map[string]int{}
	for rank, d := range order {
		share[d] = total / len(domains)
		if rank < total%len(domains) {
			share[d]++
		}
	}
	list := func(of map[string]int) string {
		var out []string
		for _, d := range domains {
			out = append(out, strconv.Itoa(of[d]))
		}
		if len(out) > 8 {
			return strings.Join(out[:8], "/") + "/..."
		}
		return strings.Join(out, "/")
	}
	return domains, fmt.Sprintf("%s has %s pods over %d values of %s; %s would be even", g.Subject.Name, list(count), len(domains), g.TopologyKey, list(share))
}

// addRandomNodeConstraints adds random node constraints to pods, the same for all pods of a controller.
func addRandomNodeConstraints(r *rand.Rand, o *cluster.Objects) {
	node := func() string { return o.Nodes[r.IntN(len(o.Nodes))].Name }
	of := map[string]func(*corev1.PodSpec){}
	for _, p := range o.Pods {
		c := metav1.GetControllerOf(p)
		if c == nil {
			continue
		}
		if of[c.Name] == nil {
			not, pool := []string{node(), node()}, "general"
			of[c.Name] = []func(*corev1.PodSpec){
				func(*corev1.PodSpec) {},
				func(*corev1.PodSpec) {},
				func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"pool": pool} },
				func(s *corev1.PodSpec) {
					s.Tolerations = append(s.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
				},
				func(s *corev1.PodSpec) { s.Affinity = requiredAffinity("metadata.name", not, true) },
				func(s *corev1.PodSpec) { s.Affinity = requiredAffinity("kubernetes.io/hostname", not, false) },
				func(s *corev1.PodSpec) {
					s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
				},
			}[r.IntN(7)]
		}
		of[c.Name](&p.Spec)
	}
}

func requiredAffinity(key string, not []string, field bool) *corev1.Affinity {
	terms := make([]corev1.NodeSelectorTerm, 1)
	if field {
		terms[0].MatchFields = []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: not[:1]}}
	} else {
		terms[0].MatchExpressions = []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: not}}
	}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

// TestGoalsEqualExpectedGoals compares the goals on random clusters with those that expectedGoal computes.
func TestGoalsEqualExpectedGoals(t *testing.T) {
	selector := must.Get(labels.Parse("kubernetes.io/hostname notin (n01, n04)"))(t)
	goals, kinds := 0, map[string]bool{}
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 5))
		o := simulation.Mixed(r)
		addRandomNodeConstraints(r, o)
		s := must.Get(cluster.New(o))(t)
		for _, args := range []string{`{}`, `{"by": "service"}`, `{"topologyKey": "kubernetes.io/hostname"}`, `{"topologyKey": "pool", "by": "service"}`} {
			scope := cluster.Scope{}
			if seed%3 == 0 {
				scope.Nodes = selector
			}
			z, errs := zonespread.New("zones", []byte(args), scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			for _, g := range z.Goals(s) {
				goals++
				domains, message := expectedGoal(s, scope, g)
				kinds[fmt.Sprint(g.TopologyKey, len(domains))] = true
				words, _, _ := strings.Cut(g.Reason.Message, "; failure category")
				if !reflect.DeepEqual(g.Domains, domains) || words != message {
					t.Fatalf("seed %d, %s: %s:\n got %v %s\nwant %v %s", seed, args, g.Subject.Name, g.Domains, words, domains, message)
				}
			}
		}
	}
	if goals < 2500 || len(kinds) < 15 {
		t.Errorf("compared only %d goals of %d kinds, want at least 2500 of 15", goals, len(kinds))
	}
}
