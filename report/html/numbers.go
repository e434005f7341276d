package html

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Numbers are the figures beside the answers.
type Numbers struct {
	// ScoreNow is empty if the score is unknown, and ScoreAfter also if only a proposal has moves.
	ScoreNow, ScoreAfter string
	Parts                []Twin // of the score: points lost
	Evictions            *Bullet
	Categories           []Twin // workloads by category; Key is the category
	Nodes                []Twin
	NodesBasis           string // Requested or Used
}

// Twin is a value now and after the plan, with two bars on one scale.
type Twin struct {
	Key, Label           string
	Now, After           string
	NowWidth, AfterWidth string
}

// twins is a small table of values now and after the plan.
type twins struct {
	Caption, Head string
	Rows          []Twin
}

func newTwin(label string, now, after, top float64, write func(float64) string) Twin {
	return Twin{Label: label, Now: write(now), After: write(after), NowWidth: share(part(now, top)), AfterWidth: share(part(after, top))}
}

// Bullet is the number of evictions beside the proven minimum.
type Bullet struct {
	Evictions, Minimum string
	Label, Width       string
	Low                bool // no mark has a number
	Marks              []Mark
	Note               string
}

// Mark is a line at a value; Text is empty if the number stands elsewhere.
type Mark struct{ X, Text string }

var partNames = map[plan.BalancePart]string{plan.BalanceGoals: "Goals not met", plan.BalanceZones: "Zones uneven", plan.BalanceUtilization: "Nodes uneven",
	plan.BalanceWhole: "All parts together"}

func writeCount(v float64) string { return number(int(v)) }

func (r *Report) makeNumbers() Numbers {
	n := Numbers{NodesBasis: "Requested"}
	if r.nodes.measures[0].Load {
		n.NodesBasis = "Used"
	}
	r.addScore(&n)
	if len(r.shown.Moves) > 0 {
		n.Evictions = bulletOf(len(r.shown.Moves)+r.omitted.Moves, &r.shown.Bound)
	}
	if len(r.workloads) > 0 && r.omitted.Workloads == 0 && len(r.zones) > 1 {
		now, after := r.categoryCounts()
		top := 1
		for _, k := range categoryKeys {
			top = max(top, now[k], after[k])
		}
		for _, k := range categoryKeys {
			if now[k]+after[k] > 0 || k < "3" {
				t := newTwin(categoryWords[k], float64(now[k]), float64(after[k]), float64(top), writeCount)
				t.Key = k
				n.Categories = append(n.Categories, t)
			}
		}
	}
	r.nodes.addNodes(&n)
	return n
}

// categoryKeys lists the categories in the order of the legend.
var categoryKeys = []string{"1", "2", "3", "34", "4"}

func (r *Report) addScore(n *Numbers) {
	before, after, known := r.plan.Balance()
	if !known {
		return
	}
	n.ScoreNow = fmt.Sprintf("%.1f", before.Score())
	if r.proposed { // a proposal has no score
		return
	}
	n.ScoreAfter = fmt.Sprintf("%.1f", after.Score())
	type lost struct{ now, after float64 }
	parts, top := map[plan.BalancePart]lost{}, 0.0
	for _, p := range before.Parts {
		parts[p.Name] = lost{now: before.LostPoints(p)}
		top = max(top, before.LostPoints(p))
	}
	for _, p := range after.Parts {
		of := parts[p.Name]
		of.after = after.LostPoints(p)
		parts[p.Name], top = of, max(top, of.after)
	}
	for _, name := range []plan.BalancePart{plan.BalanceGoals, plan.BalanceZones, plan.BalanceUtilization} {
		if of, has := parts[name]; has {
			n.Parts = append(n.Parts, newTwin(partNames[name], of.now, of.after, top, points))
		}
	}
}

func bulletOf(evictions int, bound *plan.Bound) *Bullet {
	minimum, full := bound.MinForPlan, bound.MinEvictions
	b := &Bullet{Evictions: number(evictions), Minimum: number(minimum), Label: count(evictions, "eviction") + ", proven minimum " + number(minimum), Low: true,
		Note: "No plan with this result needs fewer."}
	scale := 1.01
	if full > evictions {
		scale = 1.06
	}
	top := float64(max(evictions, full)) * scale
	b.Width = share(part(float64(evictions), top))
	mark := func(at int, labelled bool) {
		m := Mark{X: share(part(float64(at), top))}
		if labelled {
			m.Text, b.Low = number(at), false
		}
		b.Marks = append(b.Marks, m)
	}
	if minimum < evictions {
		b.Note = fmt.Sprintf("Any plan with this result needs at least %s.", number(minimum))
	}
	mark(minimum, minimum < evictions)
	if full > evictions {
		mark(full, true)
		b.Note += fmt.Sprintf(" Meeting every goal that can be met takes at least %s.", number(full))
	}
	return b
}

// addNodes counts the nodes above their target. Without a target, or in a small cluster, it adds the fullest node.
func (ns *nodeSet) addNodes(n *Numbers) {
	if len(ns.all) == 0 || ns.omitted > 0 {
		return
	}
	top := 1
	for _, m := range ns.measures {
		now, after := ns.above(m)
		top = max(top, now, after)
	}
	hot := false
	for _, m := range ns.measures {
		t, has := ns.target(m)
		if now, after := ns.above(m); has && now+after > 0 {
			n.Nodes = append(n.Nodes, newTwin(m.label()+" above "+percentOf(t), float64(now), float64(after), float64(top), writeCount))
			hot = true
		}
	}
	if hot && len(ns.all) > maxLanes {
		return
	}
	for _, m := range ns.measures {
		var now, after float64
		for i := range ns.all {
			now, after = max(now, m.value(ns.all[i].now)), max(after, m.value(ns.all[i].after))
		}
		n.Nodes = append(n.Nodes, newTwin("Fullest node, "+resourceWord(m.Resource), now, after, 1, percentOf))
	}
}
