package report

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// writeWorkloads writes pods per zone and failure categories. The short form shows only
// workloads that change, have a goal, or are in category 1 or 2.
func (t *planTable) writeWorkloads(p plan.Plan) {
	zones := zoneNames(p)
	if len(zones) == 0 {
		return
	}
	heading := "PODS PER ZONE"
	if len(zones) <= maxZoneColumns {
		heading = "PODS IN " + escape(strings.Join(zones, "/"))
	}
	g, worse := layout.NewGrid("WORKLOAD", heading, "IF ITS WORST ZONE FAILS"), []bool{}
	after := map[string]plan.WorkloadState{}
	for _, w := range p.After.Workloads {
		after[workloadName(w)] = w
	}
	listed := goalSubjectsAndOwners(p)
	var others [][]string
	for _, now := range p.Before.Workloads {
		name := workloadName(now)
		then := after[name]
		pods, podsThen := podsPerZone(now.Zones, zones), podsPerZone(then.Zones, zones)
		cells := []string{escape(name), changeText(pods, podsThen), changeText(categoryText(now), categoryText(then))}
		switch {
		case listed[name] || pods != podsThen:
			g.Add(cells...)
			worse = append(worse, then.CategoryCertain && then.FailureCategory < now.FailureCategory)
		case t.out.wide || now.FailureCategory == 1 || now.FailureCategory == 2:
			others = append(others, cells)
		}
	}
	for _, cells := range others {
		g.Add(cells...)
		worse = append(worse, false)
	}
	importance := workloadRank
	if slices.Contains(worse, true) {
		importance = harmRank // the first line counts them
	}
	t.out.addSection(importance, layout.Section{Title: "Workloads by zone, and the effect of losing one zone (1 complete loss, 2 substantial, 3 noticeable, 4 minor)" + nowThen,
		ShortTitle: "Workloads by zone" + nowThen, Grid: g, Order: orderBy(g.Len(), func(a, b int) int { return compareBool(worse[b], worse[a]) })})
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
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
