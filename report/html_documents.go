package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/layout"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// The numbers of target nodes that an HTML explanation lists for one pod, and for a pod of a node or workload.
const (
	maxTargets     = 60
	maxPartTargets = 6
)

func words(parts ...answers.Part) answers.Text { return parts }

func word(s string) answers.Part { return answers.Part{Text: s} }

// tableDocument arranges a table as HTML. Its first line is the headline.
func tableDocument(t *table) *html.Document {
	d := &html.Document{Pill: "Report"}
	d.Facts, d.Sections = html.Convert(&t.page)
	if len(d.Facts) > 0 {
		d.Headline, d.Facts = d.Facts[0], d.Facts[1:]
	}
	return d
}

// writeWhatIfPage writes the plan after an imagined change as HTML. Before it comes which pods find a node, and the
// advice.
func writeWhatIfPage(w io.Writer, x plan.WhatIf, p plan.Plan, opts []Options) error {
	v := view.View{Plan: p, Context: contextOf(opts)}
	first := answers.Of(&v)
	s := html.Section{ID: "what-if", Title: "Advice"}
	if !x.Change.IsEmpty() {
		s.Title = "What if"
		first.Forbids = append(first.Forbids, "Imagined change")
		first.Next = answers.Next{Words: words(word("Nothing: the change is only imagined, so no cluster can execute this plan."))}
	}
	t := newTable(Wide, nil)
	t.writeWhatIf(x)
	facts, parts := html.Convert(&t.page)
	if len(facts) > 0 {
		s.Lead, s.Notes = facts[0], facts[1:]
	}
	for _, part := range parts {
		for i := range part.Tables {
			part.Tables[i].Hidden = false
		}
		s.Tables, s.Notes = append(s.Tables, part.Tables...), append(s.Notes, part.Notes...)
	}
	return html.Write(w, &v, first, s)
}

// explanationDocument arranges an explanation as HTML, with the texts and tables of the other forms.
func explanationDocument(e plan.Explanation) *html.Document {
	d := &html.Document{Pill: "Explanation", Meta: []answers.Text{words(word("as of " + e.TakenAt.UTC().Format(timeLayout)))}}
	t := newTable(Wide, nil)
	if e.Subject.Kind == "Pod" && len(e.Pods) == 1 {
		p := e.Pods[0]
		d.Headline = words(word("Pod "), answers.Part{Kind: answers.Name, Text: p.Pod.String()}, word(" "+headlineText(p)+"."))
		explainTable{out: t, landingNodes: maxTargets}.writePodExplanation(p, e.Blocks, e.TakenAt)
		d.Facts, d.Sections = html.Convert(&t.page)
		d.Facts = slices.DeleteFunc(d.Facts, func(f answers.Text) bool { return f[0].Text == "It "+verdictText(p)+"." }) // the headline says it
		return d
	}
	leave := 0
	for _, p := range e.Pods {
		if p.Move != nil {
			leave++
		}
		part := newTable(Wide, nil)
		explainTable{out: part, landingNodes: maxPartTargets}.writePodExplanation(p, nil, e.TakenAt)
		verdict, _, _ := strings.Cut(verdictText(p), ": ") // the table of pods has the reason
		of := html.Part{Summary: p.Pod.String() + " " + verdict}
		of.Facts, of.Sections = html.Convert(&part.page)
		d.Parts = append(d.Parts, of)
	}
	t.wide = false // the parts explain the pods
	explainTable{out: t}.writeExplanation(e)
	d.Facts, d.Sections = html.Convert(&t.page)
	d.Facts = d.Facts[1:] // the headline and the line above it have the first one
	name := e.Subject.Name
	if e.Subject.Namespace != "" {
		name = e.Subject.Namespace + "/" + name
	}
	effect := ": it has no pods."
	if n := len(e.Pods); n > 0 {
		effect = fmt.Sprintf(": %d of its %s would be moved.", leave, plural.Count(n, "pod"))
	}
	d.Headline = words(word(e.Subject.Kind+" "), answers.Part{Kind: answers.Name, Text: name}, word(effect))
	return d
}

// headlineText is the verdict about a pod. That about a pod that would be moved leaves out the reason, which follows.
func headlineText(p plan.PodExplanation) string {
	text := verdictText(p)
	if p.Move != nil || len(p.Proposed) > 0 {
		text, _, _ = strings.Cut(text, ": ")
	}
	return text
}

// document arranges the history as HTML, with the tables of the other forms and a chart of the passes. It also returns
// the page of the tables.
func (h *History) document() (*html.Document, *layout.Page) {
	d := &html.Document{Pill: "History", Meta: []answers.Text{words(word("as of " + h.Now.UTC().Format(timeLayout)))}}
	if !h.Since.IsZero() {
		d.Meta = append(d.Meta, words(word("since "+h.Since.UTC().Format(timeLayout))))
	}
	evicted, asPredicted := 0, 0
	for _, n := range h.Counts {
		evicted, asPredicted = evicted+n.moves-n.failed, asPredicted+n.asPredicted
	}
	effect := fmt.Sprintf(" evicted %s, %d as predicted.", plural.Count(evicted, "pod"), asPredicted)
	page := layout.Page{}
	if h.Subject == "" {
		d.Headline = words(word(fmt.Sprintf("%d %s", len(h.Plans), plural.Choose(len(h.Plans), "pass", "passes")) + effect))
		d.Passes = html.NewPasses(h.charted())
		page.AddSection(layout.Section{Title: "Passes", Grid: h.passes()})
	} else {
		d.Headline = words(word(plural.Count(len(h.Moves), "move")+" of "), answers.Part{Kind: answers.Name, Text: h.Subject}, word(fmt.Sprintf(": %d as predicted.", asPredicted)))
		for _, chain := range h.chains() {
			page.AddText(layout.Paragraph{Text: "Replacements, the oldest pod first: " + strings.ReplaceAll(chain, " -> ", " → ")})
		}
		page.AddSection(layout.Section{Title: "Moves", Grid: h.moves()})
	}
	page.AddSection(layout.Section{Title: "Moves by strategy", Grid: h.Counts.grid()})
	d.Facts, d.Sections = html.Convert(&page)
	if text := h.filtered(); text != "" {
		d.Facts = slices.Insert(d.Facts, 0, words(word(text)))
	}
	for _, line := range h.unknown() {
		d.Facts = append(d.Facts, words(word(line)))
	}
	return d, &page
}

// charted returns the passes of the chart. The score is that before the pass.
func (h *History) charted() (out []html.Pass) {
	for i := range h.Plans {
		o := &h.Plans[i]
		before, _, _ := strings.Cut(o.Spec.Score, " ")
		score, err := strconv.ParseFloat(before, 64)
		if err != nil {
			score = 0
		}
		out = append(out, html.Pass{At: record.PlannedAt(o).UTC().Truncate(time.Second), Evicted: int(o.Status.Evicted), Score: score})
	}
	return out
}
