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
# Pods with the annotation descheduler.alpha.kubernetes.io/evict: the descheduler evicts them although
#  a guard protects them; for Evenkeel, the annotation bypasses no guard.
# The descheduler evicts as fast as it can. Evenkeel waits for the replacements (evictor.inFlight), and
#  stops if too many of them stay Pending (evictor.breaker).
`

// configText returns the text of the configuration.
func (c *conversion) configText() string {
	return fmt.Sprintf(header, baseName(c.name)) + c.body()
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
func (c *conversion) body() string {
	var out strings.Builder
	out.WriteString(c.sectionComments("top", ""))
	out.WriteString("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: true\n")
	fmt.Fprintf(&out, "timeZone: %s\n", quote(c.timing.timeZone))
	if n := c.policy.NodeSelector; n != nil && *n != "" {
		fmt.Fprintf(&out, "nodeSelector: %s\n", strconv.Quote(*n))
	}
	out.WriteString("namespaces:\n")
	out.WriteString(comment("  ", "The descheduler leaves out no namespace. Evenkeel's default is [kube-system], which is recommended."))
	out.WriteString("  exclude: []\n")
	if c.guards.namespaceSelector != "" {
		fmt.Fprintf(&out, "  selector: %s\n", strconv.Quote(c.guards.namespaceSelector))
	}
	out.WriteString(c.loadLines())
	out.WriteString(c.guardLines())
	out.WriteString(c.limitLines())
	out.WriteString(c.evictorLines())
	out.WriteString(c.strategyLines())
	return out.String()
}

// sectionComments returns the notes of a section as comments.
func (c *conversion) sectionComments(section, indent string) string {
	var out strings.Builder
	for _, n := range c.sectionNotes[section] {
		out.WriteString(comment(indent, n.String()))
	}
	return out.String()
}

// limitLines returns the key limits. The descheduler has no other limits than the first three.
func (c *conversion) limitLines() string {
	var out strings.Builder
	out.WriteString("limits:\n")
	out.WriteString(comment("  ", "unlimited: the policy has no such limit, or the descheduler has none. Evenkeel's defaults are recommended: "+
		"perPass 50, perNode 5, perNamespace 20%, perOwner 50%, perZone 20, and perHour {owner: 10, namespace: 100, cluster: 300}."))
	for _, l := range c.limits {
		fmt.Fprintf(&out, "  %s: %s\n", l.key, l.value)
	}
	for _, key := range []string{"perOwner", "perZone"} {
		fmt.Fprintf(&out, "  %s: %s\n", key, unlimited)
	}
	fmt.Fprintf(&out, "  perHour: {owner: %s, namespace: %s, cluster: %s}\n", unlimited, unlimited, unlimited)
	return out.String()
}

func (c *conversion) evictorLines() string {
	notes := c.sectionComments("evictor", "  ")
	g := c.policy.GracePeriodSeconds
	if g == nil {
		return c.sectionComments("evictor", "")
	}
	return fmt.Sprintf("evictor:\n%s  gracePeriodSeconds: %d\n", notes, max(*g, 1))
}

func (c *conversion) strategyLines() string {
	var out strings.Builder
	if c.timing.remark != "" {
		out.WriteString(comment("", c.timing.remark))
	}
	out.WriteString(c.sectionComments("strategies", ""))
	if len(c.strategies) == 0 {
		return out.String() + "strategies: []\n"
	}
	out.WriteString("strategies:\n")
	for _, s := range c.strategies {
		out.WriteString(s.lines())
	}
	return out.String()
}
