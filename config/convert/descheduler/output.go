package descheduler

import (
	"fmt"
	"path"
	"strconv"
	"strings"
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

// writer writes the result of a conversion.
type writer struct{ *conversion }

// configText returns the text of the configuration.
func (w writer) configText() string {
	return fmt.Sprintf(header, baseName(w.name)) + w.body()
}

// baseName returns the name of a file without its directories, on one line.
func baseName(name string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '_'
	}, path.Base(name))
}

// body returns the configuration without the header.
func (w writer) body() string {
	var out strings.Builder
	out.WriteString(w.sectionComments("top", ""))
	out.WriteString("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: true\n")
	fmt.Fprintf(&out, "timeZone: %s\n", quote(w.timing.timeZone))
	if n := w.policy.NodeSelector; n != nil && *n != "" {
		fmt.Fprintf(&out, "nodeSelector: %s\n", strconv.Quote(*n))
	}
	out.WriteString("namespaces:\n")
	out.WriteString(comment("  ", "The descheduler leaves out no namespace. Evenkeel's default is [kube-system], which is recommended."))
	out.WriteString("  exclude: []\n")
	if w.guards.namespaceSelector != "" {
		fmt.Fprintf(&out, "  selector: %s\n", strconv.Quote(w.guards.namespaceSelector))
	}
	out.WriteString(w.loadLines())
	out.WriteString(w.guardLines())
	out.WriteString(w.limitLines())
	out.WriteString(w.evictorLines())
	out.WriteString(w.strategyLines())
	return out.String()
}

// sectionComments returns the notes of a section as comments.
func (w writer) sectionComments(section, indent string) string {
	var out strings.Builder
	for _, n := range w.sectionNotes[section] {
		out.WriteString(comment(indent, n.String()))
	}
	return out.String()
}

// limitLines returns the key limits. The descheduler has no other limits than the first three.
func (w writer) limitLines() string {
	var out strings.Builder
	out.WriteString("limits:\n")
	out.WriteString(comment("  ", "unlimited: the policy has no such limit, or the descheduler has none. Evenkeel's defaults are recommended: "+
		"perPass 50, perNode 5, perNamespace 20%, perOwner 50%, perZone 20, and perHour {owner: 10, namespace: 100, cluster: 300}."))
	for _, l := range w.limits {
		fmt.Fprintf(&out, "  %s: %s\n", l.key, l.value)
	}
	for _, key := range []string{"perOwner", "perZone"} {
		fmt.Fprintf(&out, "  %s: %s\n", key, unlimited)
	}
	fmt.Fprintf(&out, "  perHour: {owner: %s, namespace: %s, cluster: %s}\n", unlimited, unlimited, unlimited)
	return out.String()
}

func (w writer) evictorLines() string {
	notes := w.sectionComments("evictor", "  ")
	g := w.policy.GracePeriodSeconds
	if g == nil {
		return w.sectionComments("evictor", "")
	}
	return fmt.Sprintf("evictor:\n%s  gracePeriodSeconds: %d\n", notes, max(*g, 1))
}

func (w writer) strategyLines() string {
	var out strings.Builder
	if w.timing.remark != "" {
		out.WriteString(comment("", w.timing.remark))
	}
	out.WriteString(w.sectionComments("strategies", ""))
	if len(w.strategies) == 0 {
		return out.String() + "strategies: []\n"
	}
	out.WriteString("strategies:\n")
	for _, s := range w.strategies {
		out.WriteString(s.lines())
	}
	return out.String()
}
