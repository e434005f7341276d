package html_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// TestDocument checks the page of sentences and tables: rules that allow an eviction are closed, probabilities have
// bars, and paragraphs after a table are its notes.
func TestDocument(t *testing.T) {
	rules, nodes := layout.NewGrid("ALLOWS", "CODE", "~WHY"), layout.NewGrid("NODE", "ZONE", ">PROBABILITY", "~WHY")
	rules.Add("yes", "BarePod", "-")
	rules.Add("NO", "PodTooYoung", "the pod started 3m ago")
	for range 25 {
		nodes.Add("n1", "-", "<0.1%", "scores 210")
	}
	var p layout.Page
	p.AddText(layout.Paragraph{Text: "Pod shop/web-1 on n3."})
	p.AddSection(layout.Section{Title: "Guards", Grid: rules})
	p.AddText(layout.Paragraph{Text: "No budget covers it."})
	p.AddSection(layout.Section{Title: "Where it would land now, before any other move", Grid: nodes, Hidden: 1200})
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	d := &html.Document{Pill: "Explanation", Headline: sentence("Pod ", attack, " stays."),
		Passes: html.NewPasses([]html.Pass{{At: at, Evicted: 3, Score: 81.5}, {At: at.Add(time.Hour), Score: 90}, {At: at.Add(2 * time.Hour), Evicted: 7}})}
	d.Facts, d.Sections = html.Convert(&p)
	for range 101 {
		part := html.Part{Summary: attack}
		part.Facts, part.Sections = html.Convert(&p)
		d.Parts = append(d.Parts, part)
	}
	var b bytes.Buffer
	must.Succeed(t, html.WriteDocument(&b, d))
	text := b.String()
	checkStructure(t, text)
	body := words(text)
	for _, want := range []string{"no | PodTooYoung | the pod started 3m ago", "No budget covers it.", "1 that allows the eviction", "Where it would land now, before any other move",
		"n1 | – | &lt;0.1% | | scores 210", "1,200 more are not listed.", "1 more are left out."} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body[:min(len(body), 3000)])
		}
	}
	if !strings.Contains(text, "3 passes evicted 10 pods between") || !strings.Contains(text, "the balance score was between 81.5 and 90.0") {
		t.Error("the chart of passes has no label")
	}
}
