package planner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// unevenNamespaces returns a cluster in which each Deployment needs two moves: four pods in one of three zones.
// deployments has the number of Deployments of each namespace.
func unevenNamespaces(perPass int, deployments ...int) *scenario.Scenario {
	var b strings.Builder
	b.WriteString("base: three-nodes\nobjects:\n")
	for n := 1; n <= 3; n++ {
		fmt.Fprintf(&b, "- {kind: Node, metadata: {name: n%d}, status: {allocatable: {cpu: \"500\", memory: 500Gi, pods: \"9000\"}}}\n", n)
	}
	for ns, count := range deployments {
		fmt.Fprintf(&b, "- {kind: Namespace, metadata: {name: ns%02d}}\n", ns)
		for d := range count {
			fmt.Fprintf(&b, "- {kind: Deployment, metadata: {name: d%02d, namespace: ns%02d}, requests: {cpu: 10m, memory: 10Mi}, pods: [4 on n1]}\n", d, ns)
		}
	}
	return &scenario.Scenario{Name: "namespaces", Cluster: []byte(b.String()), Config: fmt.Appendf(nil, `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perPass: %d, perNode: unlimited, perZone: unlimited, perNamespace: 100%%, perOwner: 100%%, perHour: {cluster: unlimited}}
evictor: {inFlight: {total: unlimited, perNode: unlimited}}
strategies:
  zones: {type: ZoneSpread, schedule: "@hourly"}
`, perPass)}
}

func movesByNamespace(p plan.Plan) map[string]int {
	out := map[string]int{}
	for _, m := range p.Moves {
		out[m.Pod.Namespace]++
	}
	return out
}

// TestNamespacesShareLimits checks that no namespace of equal need gets less than half an equal share of the evictions
// that a limit allows, and that a namespace with many goals leaves the others what they need.
func TestNamespacesShareLimits(t *testing.T) {
	for _, namespaces := range []int{2, 10, 50} {
		need := make([]int, namespaces)
		for i := range need {
			need[i] = 4
		}
		got := movesByNamespace(planScenario(t, unevenNamespaces(4*namespaces, need...)))
		for ns := range namespaces {
			if n := got[fmt.Sprintf("ns%02d", ns)]; n < 2 {
				t.Errorf("%d namespaces: ns%02d gets %d of %d evictions, an equal share is 4", namespaces, ns, n, 4*namespaces)
			}
		}
	}
	if got := movesByNamespace(planScenario(t, unevenNamespaces(20, 40, 3))); got["ns01"] != 6 || got["ns00"] != 14 {
		t.Errorf("evictions by namespace %v, want 6 for the namespace that needs 6, and 14 for the other", got)
	}
}

// TestNamespacesShareOtherLimits checks the same for limits of a node, of a zone and of a strategy, while the other
// namespace has goals that one move meets: a search by the largest benefit would serve only them.
func TestNamespacesShareOtherLimits(t *testing.T) {
	for _, c := range []struct {
		limits, own string
		least       int
	}{
		{"perPass: 20, perNode: unlimited, perZone: unlimited", "", 6},
		{"perPass: 50, perNode: unlimited, perZone: 20", "", 3},
		{"perPass: 50, perNode: 20, perZone: unlimited", "", 3},
		{"perPass: unlimited, perNode: unlimited, perZone: unlimited", "perPass: 20", 6},
	} {
		for _, pods := range []string{"[2 on n1, 1 on n2]", "[4 on n1]"} {
			s := unevenNamespaces(20, 40, 3)
			s.Cluster = bytes.ReplaceAll(s.Cluster, []byte("namespace: ns00}, requests: {cpu: 10m, memory: 10Mi}, pods: [4 on n1]"),
				[]byte("namespace: ns00}, requests: {cpu: 10m, memory: 10Mi}, pods: "+pods))
			s.Config = bytes.Replace(s.Config, []byte("perPass: 20, perNode: unlimited, perZone: unlimited"), []byte(c.limits), 1)
			s.Config = bytes.Replace(s.Config, []byte(`schedule: "@hourly"`), []byte(`schedule: "@hourly", limits: {`+c.own+"}"), 1)
			if got := movesByNamespace(planScenario(t, s)); got["ns01"] < c.least || got["ns00"]+got["ns01"] != 20 {
				t.Errorf("%s %s, %s: evictions by namespace %v, want 20, and at least %d in ns01", c.limits, c.own, pods, got, c.least)
			}
		}
	}
}

// TestNamespacesTakeTurns checks that the evictions of the last hour count: in a pass with one eviction, it is in the
// namespace that had none.
func TestNamespacesTakeTurns(t *testing.T) {
	s := unevenNamespaces(1, 3, 3)
	snapshot, st, conf := openScenario(t, s)
	st.Evictions = []plan.EvictionCount{{Workload: plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns00", Name: "gone"},
		Minute: snapshot.TakenAt.Add(-30 * time.Minute), Count: 1}}
	p := planner.New(conf.PlannerOptions()).Plan(snapshot, st, controller.Goals(snapshot, conf.BuildStrategies(), nil), snapshot.TakenAt)
	if got := movesByNamespace(p); got["ns01"] != 1 || len(p.Moves) != 1 {
		t.Errorf("evictions by namespace %v, want one in ns01", got)
	}
}
