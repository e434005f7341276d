package planner_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestMovesRespectPreferences checks that NodeConsolidation empties n2 only if the preference of its pod api for n2
// does not limit the moves of NodeConsolidation.
func TestMovesRespectPreferences(t *testing.T) {
	text := strings.NewReplacer("{name: n2}", "{name: n2, labels: {disk: ssd}}", "[1 on n2, 1 on n4]}", "[1 on n2, 1 on n4], "+
		"spec: {template: {spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["+
		"{weight: 99, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}}, "+
		"{weight: 1, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}}}}}}").Replace(nodesToEmpty)
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(text)}).Objects(t)))(t)
	const affinity = "  prefer: {type: NodeAffinity, schedule: '@hourly', "
	for settings, want := range map[string]bool{
		"":                                      true,
		affinity + "args: {required: true}}\n":  true,
		affinity + "args: {preferred: true}}\n": false,
		affinity + "args: {preferred: true}, mode: approve}\n":                 false,
		affinity + "args: {preferred: true}, mode: dryRun}\n":                  true,
		affinity + "args: {preferred: true}, soft: true}\n":                    true,
		affinity + "args: {preferred: true}, namespaces: {exclude: [shop]}}\n": true,
	} {
		conf := emptyingConfig(t, settings)
		goals := controller.Goals(s, conf.BuildStrategies(), []string{"pack"})
		p := planner.New(conf.PlannerOptions())
		pl := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
		checkObjects(t, pl)
		emptied := false
		for _, m := range pl.Moves {
			emptied = emptied || m.From == "n2"
		}
		if emptied != want {
			t.Errorf("with %q: n2 is emptied: %v, want %v:\n%s", settings, emptied, want, formatPlan(pl))
		}
		if want {
			continue
		}
		var b strings.Builder
		x := p.Explain(s, plan.PlannerState{}, goals, s.TakenAt).Pod(s.PodByKey("shop/api-6c8f-00").ID)
		if err := report.Explain(&b, report.Table, x); err != nil || !strings.Contains(b.String(), "no: strategy prefer would move it back") {
			t.Errorf("with %q, the explanation does not name the strategy: %v\n%s", settings, err, b.String())
		}
	}
}
