package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// table counts outcomes by plugin.
type table struct {
	plugins []string // in the order of the cases
	counts  map[string]map[outcome]int
	// severalPasses counts the cases that need more than one pass.
	severalPasses int
	// byTrait counts the cases by trait.
	byTrait map[string]int
}

func newTable() *table {
	return &table{counts: map[string]map[outcome]int{}, byTrait: map[string]int{}}
}

func (t *table) add(c *recordedCase, r *run, v verdict) {
	if r.passes > 1 {
		t.severalPasses++
	}
	if !slices.Contains(t.plugins, c.Plugin.Name) {
		t.plugins = append(t.plugins, c.Plugin.Name)
		t.counts[c.Plugin.Name] = map[outcome]int{}
	}
	t.counts[c.Plugin.Name][v.outcome]++
	for _, name := range v.traits {
		t.byTrait[name]++
	}
}

// text returns the table in Markdown.
func (t *table) text() string {
	var b strings.Builder
	b.WriteString("| plugin | cases | equal | fewer | documented | wrong |\n|---|---|---|---|---|---|\n")
	sum := map[outcome]int{}
	row := func(name string, n map[outcome]int) {
		cases := n[equal] + n[fewer] + n[documented] + n[wrong]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", name, cases, n[equal], n[fewer], n[documented], n[wrong])
	}
	for _, name := range t.plugins {
		row(name, t.counts[name])
		for o, n := range t.counts[name] {
			sum[o] += n
		}
	}
	row("together", sum)
	return b.String()
}
