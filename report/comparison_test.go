package report_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// sampleComparison has a violation for each result. Some names contain control characters.
func sampleComparison() plan.Comparison {
	pod := func(name string) plan.Goal {
		return plan.Goal{ID: "g1", Strategy: "old", Kind: plan.PodAway, From: "n1", Excess: 1, Weight: 1,
			Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: name}}
	}
	node := plan.Goal{ID: "g2", Strategy: "hot", Kind: plan.NodeBelow, Resource: "cpu", Limit: .5, Excess: .175, Weight: 1,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "n1"}}
	later := node
	later.Subject.Name, later.Excess = "n2", 0
	move := func(i int, to string) plan.ViolationMove {
		return plan.ViolationMove{Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprint("web-", i)}, From: "n1", To: to, Strategy: "own"}
	}
	return plan.Comparison{
		APIVersion: plan.APIVersion, Kind: "Comparison", TakenAt: taken, Cluster: plan.ClusterInfo{UID: "c-1", Version: "1.37"},
		Policy: "policy\x1b[2J.yaml", ConfigHash: "9b1e", Evictions: 4,
		OtherDeschedulers: []plan.OtherDescheduler{{Program: "descheduler", Kind: "CronJob", Namespace: "kube-system", Name: "descheduler"}},
		Plugins: []plan.ComparedPlugin{
			{Plugin: "PodLifeTime", Strategy: "old", Found: 4, Repaired: 1, WaitForApproval: 1, Shown: 1, Left: 1},
			{Plugin: "LowNodeUtilization", Strategy: "hot", Found: 1, Left: 1, Caused: 1},
			{Plugin: "LowNodeUtilization", Strategy: "hot-2", NoData: "no usage data: the snapshot holds none"},
			{Plugin: "LowNodeUtilization", Strategy: "hot-3", Waiting: "1 node is above its target, but no node is under-utilized"},
		},
		Violations: []plan.Violation{
			{Plugin: "PodLifeTime", Goal: pod("web-1"), Result: plan.ViolationRepaired, Moves: []plan.ViolationMove{move(1, "n2")}, Strategies: []string{"a", "b"}},
			{Plugin: "PodLifeTime", Goal: pod("web-2"), Result: plan.ViolationWaitsForApproval, Moves: []plan.ViolationMove{move(2, "")}, Strategies: []string{}},
			{Plugin: "PodLifeTime", Goal: pod("web-3"), Result: plan.ViolationShown, Moves: []plan.ViolationMove{move(3, "n3")}, Strategies: []string{}},
			{Plugin: "PodLifeTime", Goal: pod("web-4\x1b[2J"), ExcessAfter: 1, Result: plan.ViolationLeft, Moves: []plan.ViolationMove{}, Strategies: []string{"a"},
				Reason: &plan.Reason{Code: plan.BlockedByPDB, Message: "pdb shop/web\u202e allows 0 more"}},
			{Plugin: "LowNodeUtilization", Goal: node, ExcessAfter: .05, Result: plan.ViolationLeft, Strategies: []string{"a"},
				Moves:  []plan.ViolationMove{move(5, "n2"), move(6, "n2"), move(7, "n3")},
				Reason: &plan.Reason{Code: plan.AllowedByStrategy, Message: "strategy a is met after the plan: it allows 60%, and the policy allows 50%"}},
			{Plugin: "LowNodeUtilization", Goal: later, ExcessAfter: .1, Result: plan.ViolationCaused, Moves: []plan.ViolationMove{move(5, "n2")}, Strategies: []string{"a"}},
		},
	}
}

func TestComparisonGolden(t *testing.T) {
	if text := written(t, report.Comparison, report.HTML, sampleComparison()); !strings.Contains(text, "<h2>") || strings.Contains(text, "\u202e") {
		t.Errorf("the HTML form has no section, or a character that changes the direction of text:\n%s", text)
	}
	for _, f := range []report.Format{report.Table, report.Wide, report.JSON, report.YAML} {
		text := written(t, report.Comparison, f, sampleComparison())
		compareWithGolden(t, "comparison."+string(f), text)
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%s: the output has %U", f, r)
			}
		}
		if strings.Contains(text, "null") {
			t.Errorf("%s: the output has a null", f)
		}
	}
}

// TestComparisonWithoutViolations checks that a policy that finds nothing is reported as healthy.
func TestComparisonWithoutViolations(t *testing.T) {
	c := plan.Comparison{Policy: "policy.yaml", Evictions: 1, Plugins: []plan.ComparedPlugin{{Plugin: "PodLifeTime", Strategy: "old"}}}
	text := written(t, report.Comparison, report.Table, c, report.Options{Color: true})
	if want := "\x1b[1;32mPolicy policy.yaml: 0 violations.\x1b[0m\n"; !strings.HasPrefix(text, want) {
		t.Errorf("the first line is %q, want %q", strings.SplitAfter(text, "\n")[0], want)
	}
}
