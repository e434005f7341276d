package planner_test

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/plan"
)

// halved is a scenario whose Deployment web has four pods in each of two zones, which
// use 1000m each and request 200m: whichever zone fails, the other pods have twice the
// work.
const halved = "testdata/scenarios/load-hinted.txtar"

// TestUsageTellsCategory3From4, and only where that of every pod is known.
func TestUsageTellsCategory3From4(t *testing.T) {
	limits := func(limit string) []string {
		return []string{`{requests: {cpu: 200m, memory: 100Mi}}`, `{requests: {cpu: 200m, memory: 100Mi}, limits: {cpu: "` + limit + `"}}`}
	}
	for _, c := range []struct {
		name    string
		replace []string
		want    int
		certain bool
		weight  float64 // of the goal of a workload with zone-slo 4
	}{
		{"five times what is requested", nil, 3, true, 2},
		{"a fifth of what is requested", []string{"used: {cpu: 1000}", "used: {cpu: 40}"}, 4, true, 1},
		{"half of the limit: all of it afterwards", limits("2"), 3, true, 2},
		{"0.45 of the limit: just what may be", []string{"used: {cpu: 1000}", "used: {cpu: 900}", limits("2")[0], limits("2")[1]}, 4, true, 1},
		{"a quarter of the limit", limits("4"), 4, true, 1},
		{"one pod not measured", []string{`web-6c8f-07, uid: "ab302f9b-66bb-50e0-67e2-681a8304b963", node: n2, used: {cpu: 1000}`, `other, uid: "", node: n2, used: {cpu: 1000}`}, 3, false, 2},
		{"measured long ago", []string{`{name: n2, at: "2026-01-01T23:59:30Z"`, `{name: n2, at: "2026-01-01T22:59:30Z"`}, 3, false, 2},
		{"requests go by nothing that is used", []string{"kind: Usage", "kind: None"}, 3, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := txtar.ParseFile(halved)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a.Files {
				text := string(a.Files[i].Data)
				text = strings.ReplaceAll(text, `name: web, uid: "8aaaa5c3-8de3-f6b9-de78-796abe58b97b", labels: {app: web}}`, `name: web, uid: "8aaaa5c3-8de3-f6b9-de78-796abe58b97b", labels: {app: web}, annotations: {evenkeel.io/zone-slo: "4"}}`)
				text = strings.Replace(text, "strategies:\n", "strategies:\n- {name: zones, type: ZoneSpread, schedule: \"0 * * * *\"}\n", 1)
				a.Files[i].Data = []byte(strings.NewReplacer(c.replace...).Replace(text))
			}
			p, found := planOf(t, a), 0
			for _, w := range p.Before.Workloads {
				if w.Name == "web" {
					found++
				}
				if w.Name == "web" && (w.FailureCategory != c.want || w.CategoryCertain != c.certain) {
					t.Errorf("category %d, certain %v", w.FailureCategory, w.CategoryCertain)
				}
			}
			for _, g := range p.Goals {
				if g.Kind == plan.SkewAtMost && g.Subject.Name == "web" {
					found++
				}
				if g.Kind == plan.SkewAtMost && g.Subject.Name == "web" && g.Weight != c.weight {
					t.Errorf("weight %v: %s", g.Weight, g.Reason.Message)
				}
			}
			if found != 2 {
				t.Error("no workload web, or no goal for it")
			}
		})
	}
}
