package descheduler

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/strategies"
)

// header is the beginning of the converted file.
const header = `# Made by ` + "`evenkeel config convert`" + ` from %s of the descheduler.
# Comments name the settings of the descheduler without an exact counterpart.
# With dryRun: true, Evenkeel only reports what it would evict. Both can then run at the same time.
# The descheduler evicts pods with the annotation descheduler.alpha.kubernetes.io/evict even if a
# guard protects them. For Evenkeel, this annotation bypasses no guard.
# The descheduler evicts as fast as it can. Evenkeel waits for the replacements (evictor.inFlight),
# and stops if too many of them stay Pending (evictor.breaker).
`

// writer writes the result of a conversion to out.
type writer struct {
	c          *conversion
	out        strings.Builder
	chartNotes []Note // about values of the descheduler's chart
}

// configText returns the converted configuration as YAML with comments.
func configText(c *conversion) string {
	w := &writer{c: c}
	w.printf(header, baseName(c.doc.name))
	w.writeConfig()
	return w.out.String()
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.out, format, args...) }

// comment writes text as comment lines with the indent.
func (w *writer) comment(indent, text string) { w.out.WriteString(comment(indent, text)) }

// baseName returns the name of a file without its directories, on one line.
func baseName(name string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '_'
	}, path.Base(name))
}

// writeConfig writes the configuration without the header.
func (w *writer) writeConfig() {
	w.sectionComments("top", "")
	w.printf("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: true\n")
	w.printf("timeZone: %s\n", quote(w.c.timing.timeZone))
	if n := w.c.doc.policy.NodeSelector; n != nil && *n != "" {
		w.printf("nodeSelector: %s\n", strconv.Quote(*n))
	}
	w.printf("namespaces:\n")
	w.comment("  ", "The descheduler leaves out no namespace. Evenkeel's default is [kube-system], which is recommended.")
	w.printf("  exclude: []\n")
	if w.c.guards.namespaceSelector != "" {
		w.printf("  selector: %s\n", strconv.Quote(w.c.guards.namespaceSelector))
	}
	w.writeLoad()
	w.writeGuards()
	w.writeLimits()
	w.writeEvictor()
	w.writeStrategies()
}

// sectionComments writes the notes of a section as comments.
func (w *writer) sectionComments(section, indent string) {
	for _, n := range w.c.findings.sectionNotes[section] {
		w.comment(indent, n.String())
	}
}

// writeLimits writes the key limits. The descheduler has no other limits than the first three.
func (w *writer) writeLimits() {
	w.printf("limits:\n")
	w.comment("  ", "unlimited: the policy has no such limit, or the descheduler has none. Evenkeel's defaults are recommended: "+
		"perPass 50, perNode 5, perNamespace 20%, perOwner 50%, perZone 20, and perHour {owner: 10, namespace: 100, cluster: 300}.")
	for _, l := range w.c.limits {
		w.printf("  %s: %s\n", l.key, l.value)
	}
	for _, key := range []string{"perOwner", "perZone"} {
		w.printf("  %s: %s\n", key, unlimited)
	}
	w.printf("  perHour: {owner: %[1]s, namespace: %[1]s, cluster: %[1]s}\n", unlimited)
}

func (w *writer) writeEvictor() {
	g := w.c.doc.policy.GracePeriodSeconds
	if g == nil {
		w.sectionComments("evictor", "")
		return
	}
	w.printf("evictor:\n")
	w.sectionComments("evictor", "  ")
	w.printf("  gracePeriodSeconds: %d\n", max(*g, 1))
}

func (w *writer) writeStrategies() {
	if w.c.timing.remark != "" {
		w.comment("", w.c.timing.remark)
	}
	w.sectionComments("strategies", "")
	w.printf("preset: []\n")
	if len(w.c.strategies) == 0 {
		w.printf("strategies: {}\n")
		return
	}
	w.printf("strategies:\n")
	sorted := slices.IsSortedFunc(w.c.strategies, func(a, b *strategy) int { return cmp.Compare(a.name, b.name) })
	for i, s := range w.c.strategies {
		if sorted {
			i = 0
		}
		w.writeStrategy(s, i)
	}
}

// writeStrategy writes a strategy as an entry of the map strategies.
func (w *writer) writeStrategy(s *strategy, order int) {
	w.comment("  ", s.origin())
	for _, n := range s.notes {
		w.comment("  ", "- "+Note{Field: n.Field, Text: n.Text}.String())
	}
	w.printf("  %s:\n", s.name)
	line := func(set bool, key, value string) {
		if set {
			w.printf("    %s: %s\n", key, value)
		}
	}
	line(order > 0, "order", strconv.Itoa(order))
	line(true, "type", s.kind)
	line(true, "schedule", strconv.Quote(w.c.timing.schedule))
	namespaces := s.namespaceEntries()
	line(len(namespaces) > 0, "namespaces", flowMap(namespaces))
	line(s.podSelector != "", "podSelector", strconv.Quote(s.podSelector))
	line(len(s.guards) > 0, "guards", flowMap(s.guards))
	line(s.landing != "" && strategies.Lookup(s.kind).LandingOptional, "landing", string(s.landing))
	if len(s.args) > 0 {
		w.printf("    args:\n")
		for _, a := range s.args {
			w.printf("      %s: %s\n", a.key, a.value)
		}
	}
}
