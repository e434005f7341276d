package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// whatIfDocument is an imagined change and the plan after it. It is no RebalancePlan, so that nobody executes the plan.
type whatIfDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "WhatIf"
	plan.WhatIf
	Plan any `json:"plan"`
}

// WhatIf writes an imagined change of the nodes, and the plan after it, in the same way as Plan.
func WhatIf(w io.Writer, format Format, x plan.WhatIf, p plan.Plan, opts ...Options) error {
	if format == HTML {
		return writeWhatIfPage(w, x, p, opts)
	}
	doc := whatIfDocument{APIVersion: plan.APIVersion, Kind: "WhatIf", WhatIf: x}
	if format == JSON || format == YAML {
		doc.Plan = planDocument(record.PlanObjects(&p), nil)
	}
	return writeDocument(w, format, doc, opts, func(t *table) {
		t.writeWhatIf(x)
		of, title, effect := planTable{out: t, dryRun: true}, "Plan after the change", "nothing is evicted, because the change is only imagined"
		if x.Change.IsEmpty() {
			title, effect = "Plan", evictionEffectText(p, len(opts) > 0 && opts[0].Evicts)
		}
		of.writeVerdict(p, title, effect)
		of.writeSections(p)
	})
}

// writeWhatIf writes which pods find a node after an imagined change.
func (t *table) writeWhatIf(x plan.WhatIf) {
	if x.Advice != nil {
		defer t.writeAdvice(*x.Advice)
	}
	if x.Change.IsEmpty() {
		return
	}
	style := green
	switch {
	case x.LeastPending > 0:
		style = red
	case x.MostPending > 0:
		style = yellow
	}
	t.addText(style, "What if "+changeOfNodesText(x.Change)+": "+pendingText(x)+".")
	if n := len(x.Gone); n > 0 {
		t.addText(yellow, fmt.Sprintf("%s without a controller %s gone: %s.", plural.Count(n, "pod"), plural.Choose(n, "is", "are"), escape(someNames(x.Gone))))
	}
	if x.MayPreempt {
		t.addText(yellow, "Pods with a lower priority may be preempted; they are not counted.")
	}
	g := layout.NewGrid("POD", "FROM", "FITS", "IN THE PLAN", "~WHY")
	for _, p := range x.Pods {
		if p.Reason == nil && !t.wide {
			continue
		}
		fits, why := "yes", "-"
		if p.Reason != nil {
			fits, why = "maybe", reasonText(*p.Reason)+"."
			if p.Reason.Code == plan.DoesNotFit {
				fits = "no"
			}
		}
		to := "Pending"
		if p.To != "" {
			to = escape(p.To)
		}
		g.Add(escape(p.Pod.String()), orDash(escape(p.From)), fits, to, why)
	}
	t.addSection(outcomeRank, layout.Section{Title: "Pods that do not fit in any order, or may not fit", Grid: g, Keep: 8})
}

// changeOfNodesText describes a change, such as "node n1 were gone".
func changeOfNodesText(c plan.Change) string {
	var parts []string
	for _, n := range c.Without {
		parts = append(parts, "node "+n+" were gone")
	}
	for _, z := range c.ZonesDown {
		parts = append(parts, "zone "+z+" were down")
	}
	for _, a := range c.Added {
		text := fmt.Sprintf("there were %d more nodes like %s", a.Count, a.Like)
		if a.Count == 1 {
			text = "there were 1 more node like " + a.Like
		}
		if a.Zone != "" {
			text += " in " + a.Zone
		}
		parts = append(parts, text)
	}
	return escape(strings.Join(parts, ", and "))
}

// pendingText says how many pods find a node.
func pendingText(x plan.WhatIf) string {
	n := len(x.Pods)
	if n == 0 {
		return "no pod needs another node"
	}
	text := fmt.Sprintf("%s %s a node: %d fit in every order, %d may not fit, %d do not fit", plural.Count(n, "pod"), plural.Choose(n, "needs", "need"),
		x.Fits, x.MayNotFit, x.DoesNotFit)
	if x.MostPending > 0 {
		text += fmt.Sprintf("; %s %s Pending", rangeText(x.LeastPending, x.MostPending), plural.Choose(x.MostPending, "stays", "stay"))
	}
	return text
}

func rangeText(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// someNames lists the first names.
func someNames(pods []plan.PodRef) string {
	var names []string
	for i, p := range pods {
		if i == maxSmallCluster {
			names = append(names, fmt.Sprintf("%d more", len(pods)-i))
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// writeAdvice writes what capacity would help.
func (t *table) writeAdvice(a plan.Advice) {
	needs := plural.Count(a.UnmetGoals, "unmet goal")
	if a.PendingPods > 0 {
		needs += " and " + plural.Count(a.PendingPods, "Pending pod")
	}
	switch {
	case a.UnmetGoals+a.PendingPods == 0 && !a.Stopped:
		t.addText(green, "Capacity: no more nodes are needed.")
	case len(a.Capacity) == 0 && a.Stopped:
		t.addText(yellow, fmt.Sprintf("Capacity: limits.maxPlanTime or the number of plans ended the search for nodes that help; %s.", needs))
	case len(a.Capacity) == 0:
		t.addText(yellow, fmt.Sprintf("Capacity: more nodes help none of %s (planned %d times).", needs, a.Plans))
	}
	for _, c := range a.Capacity {
		t.addText(yellow, "Capacity: "+capacityText(c)+".")
	}
}

// capacityText describes an advice, such as "2 more nodes like n7 in zone-b are enough for 40 of 55 unmet goals".
func capacityText(c plan.CapacityAdvice) string {
	n := c.Nodes.Count
	text := fmt.Sprintf("%d more %s like %s", n, plural.Noun(n, "node"), escape(c.Nodes.Like))
	if c.Nodes.Zone != "" {
		text += " in " + escape(c.Nodes.Zone)
	}
	text += plural.Choose(n, " is", " are") + " enough for "
	var parts []string
	if c.Goals > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", c.Goals, plural.Count(c.UnmetGoals, "unmet goal")))
	}
	if c.Pods > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", c.Pods, plural.Count(c.PendingPods, "Pending pod")))
	}
	text += strings.Join(parts, " and ")
	switch {
	case c.FewerUntested:
		text += "; fewer may be, too"
	case n > 1:
		text += fmt.Sprintf("; %d %s not", n-1, plural.Choose(n-1, "is", "are"))
	}
	if c.Pool != "" {
		text += "; pool " + escape(c.Pool)
	}
	return text
}
