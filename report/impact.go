package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// Impact writes x to w in the same way as Plan. The short form leaves out workloads that need nothing if there are
// others.
func Impact(w io.Writer, format Format, x plan.Impact, opts ...Options) error {
	return writeDocument(w, format, x, opts, func(t *table) { impactTable{t}.write(x) })
}

// impactTable writes impacts.
type impactTable struct{ out *table }

func (t impactTable) write(x plan.Impact) {
	if x.WhatIf != nil {
		t.out.writeWhatIf(*x.WhatIf)
	}
	missed := 0
	for _, w := range x.Workloads {
		if w.SLO == plan.SLOMissed {
			missed++
		}
	}
	style := green
	switch {
	case x.ByCategory[0] > 0 || missed > 0:
		style = red
	case x.ByCategory[1] > 0:
		style = yellow
	}
	text := fmt.Sprintf("If a zone fails: %s in category 1 (complete loss), %d in 2 (substantial), %d in 3 (noticeable), %d in 4 (minor)",
		plural.Count(x.ByCategory[0], "workload"), x.ByCategory[1], x.ByCategory[2], x.ByCategory[3])
	if x.ThreeOrFour > 0 {
		text += fmt.Sprintf(", %d in 3 or 4 (usage unknown)", x.ThreeOrFour)
	}
	if missed > 0 {
		text += fmt.Sprintf("; %s its zone-slo", strconv.Itoa(missed)+" "+plural.Choose(missed, "workload misses", "workloads miss"))
	}
	t.out.addVerdict(style, text+".")
	if len(x.Zones) < 2 {
		t.out.addText(yellow, fmt.Sprintf("The nodes are in %s (label topology.kubernetes.io/zone), so no workload survives its failure.", plural.Count(len(x.Zones), "zone")))
	}
	t.out.addLine("State of %s, Kubernetes %s. The remaining pods may use at most %s of their CPU (impact.utilizationLimit).",
		x.TakenAt.UTC().Format(timeLayout), orDash(escape(x.Cluster.Version)), percent.Of(x.UtilizationLimit))
	t.out.writeAdvice(x.Advice)
	t.writeWorkloads(x)
}

func (t impactTable) writeWorkloads(x plan.Impact) {
	heading := "PODS PER ZONE"
	if len(x.Zones) > 0 && len(x.Zones) <= maxZoneColumns {
		heading = "PODS IN " + escape(strings.Join(x.Zones, "/"))
	}
	g := layout.NewGrid("WORKLOAD", heading, ">LOST", ">OTHERS USE", "CATEGORY", "ZONE-SLO", "AFTER PLAN", "~WHAT HELPS")
	fine := 0
	for _, w := range x.Workloads {
		if w.Remedy.Kind == plan.RemedyNone && !t.out.wide && len(x.Workloads) > maxSmallCluster {
			fine++
			continue
		}
		pods, worst := map[string]int{}, plan.ZoneImpact{}
		for _, z := range w.Zones {
			pods[z.Zone] = z.Replicas
			if z.Replicas > worst.Replicas {
				worst = z
			}
		}
		name := plan.ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}.String()
		slo := "-"
		if w.ZoneSLO > 0 {
			slo = fmt.Sprintf("%d %s", w.ZoneSLO, w.SLO)
		}
		lost := fmt.Sprintf("%d of %d", worst.Replicas, w.Replicas)
		if w.Pending > 0 {
			lost += fmt.Sprintf(", %d Pending", w.Pending)
		}
		g.Add(escape(name), podsPerZone(pods, x.Zones), lost, utilizationText(w.Utilization, worst.Utilization),
			effectText(w.Category), slo, effectText(w.AfterPlan), remedyText(&w))
	}
	var notes []string
	if fine > 0 {
		notes = append(notes, plural.Count(fine, "workload")+" that need nothing are left out; -o wide shows them.")
	}
	t.out.addSection(zoneRank, layout.Section{Title: "Workloads, and the failure of the worst zone (1 complete loss, 2 substantial, 3 noticeable, 4 minor)",
		ShortTitle: "Workloads by zone", Grid: g, Notes: notes})
}

// utilizationText writes the utilization before and after the failure of a zone.
func utilizationText(now, then *float64) string {
	switch {
	case now == nil:
		return "unknown"
	case then == nil:
		return "-"
	}
	return percent.Of(*now) + " -> " + percent.Of(*then)
}

func effectText(e plan.FailureEffect) string {
	if e.MayBeMinor() {
		return "3 or 4"
	}
	return fmt.Sprint(e.Category)
}

// remedyText describes what brings a workload to its category.
func remedyText(w *plan.WorkloadImpact) string {
	r := &w.Remedy
	because := ""
	if r.Reason != nil {
		because = ": " + reasonText(*r.Reason)
	}
	switch r.Kind {
	case plan.RemedyPlan:
		return fmt.Sprintf("the moves of the plan bring category %d", r.Category)
	case plan.RemedyEviction:
		return fmt.Sprintf("evictions could bring category %d (at most %d of %d in a zone); this plan does not%s", r.Category, w.BestInFullest, w.Replicas, because)
	case plan.RemedyReplicas:
		would := "could"
		if r.Checked {
			would = "would"
		}
		return fmt.Sprintf("not repairable by eviction; %d replicas over %d zones %s bring category %d%s", r.Replicas, r.Zones,
			would, r.Category, because)
	case plan.RemedyZones:
		return "not repairable by eviction or by replicas" + because
	case plan.RemedyRoom:
		room := "a node with room for " + plural.Count(w.Pending, "Pending pod")
		if w.Replicas == 0 {
			return "no replica runs; " + room
		}
		return fmt.Sprintf("%s could bring category %d", room, r.Category)
	case plan.RemedyUsage:
		return fmt.Sprintf("measured usage (load.source) would tell whether it is in category %d", r.Category)
	}
	return "-"
}
