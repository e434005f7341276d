package guard

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// scopeErrors returns the rules that have different results for pods of one node, owner or template, or that refuse
// ordinary pods or pods without requests, although their scope promises that they do not.
func scopeErrors(snapshots []*cluster.Snapshot, rules []Rule) []string {
	opts := DefaultOptions()
	for _, p := range []Protection{ProtectPVC, ProtectWithoutPDB, ProtectResourceClaims, ProtectRequired} {
		opts.Protect[p] = true
	}
	var found []string
	for _, s := range snapshots {
		for _, r := range rules {
			const passes = "allows the eviction"
			answers := map[any]string{OddPodScope: passes, RequestScope: passes}
			for i := range s.Pods {
				p := &s.Pods[i]
				var key any
				switch owner, ok := ownerKeyOf(p); {
				case p.Node == cluster.NoNode:
					continue
				case r.Scope == NodeScope:
					key = p.Node
				case r.Scope == WorkloadScope && ok:
					key = owner
				case r.Scope == TemplateScope:
					key = p.Template
				case r.Scope == OddPodScope && p.Ordinary, r.Scope == RequestScope && NewCache().Annotations.OfPod(s, p, nil).IsEmpty():
					key = r.Scope
				default:
					continue
				}
				msg, refused := r.Check(Input{Snapshot: s, Pod: p, Now: s.TakenAt, Options: &opts, Cache: NewCache()})
				answer := passes
				if refused {
					answer = msg
				}
				if other, seen := answers[key]; seen && other != answer && !slices.Contains(found, string(r.Code)) {
					found = append(found, string(r.Code))
				}
				answers[key] = answer
			}
		}
	}
	return found
}

// scenarioSnapshots returns the clusters of all scenarios.
func scenarioSnapshots(t *testing.T) []*cluster.Snapshot {
	var all []*cluster.Snapshot
	for _, sc := range scenario.All(t) {
		s, err := cluster.New(sc.Objects(t))
		if err != nil {
			t.Fatalf("%s: %v", sc.Name, err)
		}
		all = append(all, s)
	}
	return all
}

func TestScopes(t *testing.T) {
	if wrong := scopeErrors(scenarioSnapshots(t), Rules); len(wrong) > 0 {
		t.Errorf("the results of these rules depend on more than their scope: %s", strings.Join(wrong, ", "))
	}
}

// TestWrongScopesAreDetected gives a too wide scope to rules about single pods or workloads.
func TestWrongScopesAreDetected(t *testing.T) {
	snapshots := scenarioSnapshots(t)
	for code, scopes := range map[plan.Code][]Scope{plan.BarePod: {NodeScope, RequestScope}, plan.TooFewReplicas: {NodeScope, OddPodScope},
		plan.PodTooYoung: {WorkloadScope, TemplateScope}} {
		for _, scope := range scopes {
			rules := slices.Clone(Rules)
			i := slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })
			rules[i].Scope = scope
			if wrong := scopeErrors(snapshots, rules); !slices.Contains(wrong, string(code)) {
				t.Errorf("%s with scope %d: no error", code, scope)
			}
		}
	}
}

// TestSkippedScopes counts the calls of a rule for two pods of one node and one owner, by scope.
func TestSkippedScopes(t *testing.T) {
	sc := &scenario.Scenario{Cluster: []byte(`
objects:
- {kind: Node, metadata: {name: n1}}
- {kind: Deployment, metadata: {name: web}, pods: [2 on n1]}
`)}
	s := must.Get(cluster.New(sc.Objects(t)))(t)
	for scope, want := range map[Scope]int{PlanScope: 2, PodScope: 2, WorkloadScope: 1, NodeScope: 1, TemplateScope: 1, OddPodScope: 0, RequestScope: 0} {
		calls, opts, cache := 0, DefaultOptions(), NewCache()
		rules := []Rule{{Code: plan.BarePod, Scope: scope, Check: func(Input) (string, bool) { calls++; return "", false }}}
		for i := range s.Pods {
			check(newRuleSet(rules), Input{Snapshot: s, Pod: &s.Pods[i], Now: s.TakenAt, Options: &opts, Cache: cache})
		}
		if calls != want {
			t.Errorf("scope %d: %d calls, want %d", scope, calls, want)
		}
	}
	if got := (Rule{}).Scope; got != PlanScope {
		t.Errorf("a rule without a scope has scope %d, want PlanScope", got)
	}
}

// TestRefusalOfATemplate counts the calls of a rule that refuses two pods of one template, by scope. A rule before it
// refuses the second pod for a reason of its own.
func TestRefusalOfATemplate(t *testing.T) {
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(`
objects:
- {kind: Node, metadata: {name: n1}}
- {kind: Deployment, metadata: {name: web}, pods: [3 on n1]}
`)}).Objects(t)))(t)
	for scope, want := range map[Scope]int{PlanScope: 2, PodScope: 2, WorkloadScope: 1, NodeScope: 2, TemplateScope: 1} {
		calls, opts, cache := 0, DefaultOptions(), NewCache()
		rules := newRuleSet([]Rule{
			{Code: plan.PodTooYoung, Scope: PodScope, Check: func(in Input) (string, bool) { return "young", in.Pod.ID == 1 }},
			{Code: plan.WorkloadDegraded, Scope: scope, Check: func(Input) (string, bool) { calls++; return "degraded", true }},
			{Code: plan.OutsideWindow, Scope: PodScope, Check: func(Input) (string, bool) { t.Error("a later rule is asked"); return "", true }},
		})
		for i, want := range []plan.Code{plan.WorkloadDegraded, plan.PodTooYoung, plan.WorkloadDegraded} {
			r, refused := check(rules, Input{Snapshot: s, Pod: &s.Pods[i], Now: s.TakenAt, Options: &opts, Cache: cache})
			if !refused || r.Code != want || r.Message == "" {
				t.Errorf("scope %d, pod %d: refused %t, %v, want %s", scope, i, refused, r, want)
			}
		}
		if calls != want {
			t.Errorf("scope %d: %d calls, want %d", scope, calls, want)
		}
	}
}

// TestZonesOfATemplate has two pods of one template in two zones. Each has the zone of its node as a label. A
// podSelector with that label selects only one of them.
func TestZonesOfATemplate(t *testing.T) {
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(`
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: n1}}
- {kind: Node, metadata: {name: n2}}
- {kind: Deployment, metadata: {name: web}, spec: {replicas: 2}, pods: [1 on n1, 1 on n2]}
- {kind: Pod, metadata: {name: web-6c8f-00, labels: {topology.kubernetes.io/zone: z1}}}
- {kind: Pod, metadata: {name: web-6c8f-01, labels: {topology.kubernetes.io/zone: z2}}}
`)}).Objects(t)))(t)
	if !s.Pods[0].HasTemplateOf(&s.Pods[1]) {
		t.Fatal("the pods have two templates")
	}
	opts := DefaultOptions()
	opts.PodSelector = labels.SelectorFromSet(labels.Set{"topology.kubernetes.io/zone": "z1"})
	cache := NewCache()
	for i, want := range []bool{false, true} {
		if _, refused := check(newRuleSet([]Rule{podNotSelected}), Input{Snapshot: s, Pod: &s.Pods[i], Now: s.TakenAt, Options: &opts, Cache: cache}); refused != want {
			t.Errorf("pod %s: refused %t, want %t", s.Pods[i].Object.Name, refused, want)
		}
	}
}
