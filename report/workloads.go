package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// writeWorkloads writes pods per zone and failure categories. The short form shows only
// workloads that change, have a goal, or are in category 1 or 2.
func (t *table) writeWorkloads(p plan.Plan) {
	zones := zoneNames(p)
	if len(zones) == 0 {
		return
	}
	heading := "PODS PER ZONE"
	if len(zones) <= maxZoneColumns {
		heading = "PODS IN " + escape(strings.Join(zones, "/"))
	}
	g := newGrid("WORKLOAD", heading+" NOW", "AFTER", "IF ITS WORST ZONE FAILS NOW", "AFTER")
	after := map[string]plan.WorkloadState{}
	for _, w := range p.After.Workloads {
		after[workloadName(w)] = w
	}
	listed := goalSubjectsAndOwners(p)
	var others [][]string
	for _, now := range p.Before.Workloads {
		name := workloadName(now)
		then := after[name]
		cells := []string{escape(name), podsPerZone(now.Zones, zones), podsPerZone(then.Zones, zones), categoryText(now), categoryText(then)}
		switch {
		case listed[name] || cells[1] != cells[2]:
			g.addRow(cells...) // first, because the limit cuts the end
		case t.wide || now.FailureCategory == 1 || now.FailureCategory == 2:
			others = append(others, cells)
		}
	}
	g.rows = append(g.rows, others...)
	t.addSection("Workloads by zone, and the effect of losing one zone (1 complete loss, 2 substantial, 3 noticeable, 4 minor)", g, maxLines)
}

// goalSubjectsAndOwners returns the names of all goal subjects and of the owners of moved pods.
func goalSubjectsAndOwners(p plan.Plan) map[string]bool {
	names := map[string]bool{}
	for _, g := range p.Goals {
		names[g.Subject.String()] = true
	}
	for _, m := range p.Moves {
		names[plan.ObjectRef{Kind: m.Owner.Kind, Namespace: m.Pod.Namespace, Name: m.Owner.Name}.String()] = true
	}
	return names
}

func workloadName(w plan.WorkloadState) string {
	return plan.ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}.String()
}
