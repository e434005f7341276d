package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// halved names a scenario whose Deployment web has four pods in each of two zones. Each pod uses 1000m of CPU and
// requests 200m. If a zone fails, the load of the other pods doubles.
const halved = "load-hinted"

// setCPULimit returns a change that sets the CPU limit of web.
func setCPULimit(cpu string) string {
	return `{kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: c, resources: {limits: {cpu: "` + cpu + `"}}}]}}}}`
}

// TestUsageTellsCategory3From4: usage decides between failure categories 3 and 4. If a pod has no recent measurement,
// the category is 3 and not certain.
func TestUsageTellsCategory3From4(t *testing.T) {
	uses := func(cpu int64) func(*cluster.Objects) {
		return func(o *cluster.Objects) {
			for i := range o.Usage.Pods {
				if used := o.Usage.Pods[i].Used; used["cpu"] == 1000 {
					used["cpu"] = cpu
				}
			}
		}
	}
	unmeasured := func(o *cluster.Objects) {
		for i := range o.Usage.Pods {
			if p := &o.Usage.Pods[i]; p.Name == "web-6c8f-07" {
				p.Name, p.UID = "other", ""
			}
		}
	}
	measuredLongAgo := func(o *cluster.Objects) {
		for i := range o.Usage.Nodes {
			if n := &o.Usage.Nodes[i]; n.Name == "n2" {
				n.At = n.At.Add(-time.Hour)
			}
		}
	}
	asStated := func(*cluster.Objects) {}
	for _, c := range []struct {
		name    string
		change  string
		edit    func(*cluster.Objects)
		want    int
		certain bool
		weight  float64 // of the workload's goal; the zone-slo of the workload, in a trusted namespace, is 4
	}{
		{"five times what is requested", "", asStated, 3, true, 2},
		{"a fifth of what is requested", "", uses(40), 4, true, 1},
		{"half of the limit: all of it afterwards", setCPULimit("2"), asStated, 3, true, 2},
		{"0.45 of the limit: just what may be", setCPULimit("2"), uses(900), 4, true, 1},
		{"a quarter of the limit", setCPULimit("4"), asStated, 4, true, 1},
		{"one pod not measured", "", unmeasured, 3, false, 2},
		{"measured long ago", "", measuredLongAgo, 3, false, 2},
		{"requests go by nothing that is used", "{kind: Usage, $patch: delete}", asStated, 3, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scenario.Read(t, halved)
			s.Config = []byte(strings.Replace(string(s.Config), "strategies:\n",
				"trustedNamespaces: [shop]\nstrategies:\n  zones: {type: ZoneSpread, schedule: \"0 * * * *\"}\n", 1))
			changes := []string{`{kind: Deployment, metadata: {name: web, annotations: {evenkeel.io/zone-slo: "4"}}}`}
			if c.change != "" {
				changes = append(changes, c.change)
			}
			objects := s.Objects(t, changes...)
			c.edit(objects)
			p, found := planScenarioWith(t, s, objects), 0
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
