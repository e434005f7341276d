package reconciler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// isNewMessage reports whether text is not empty and differs from the last text about the subject.
// A text that does not change is logged once, although reconciliations happen every few seconds.
func (k *Reconciler) isNewMessage(subject, text string) bool {
	if k.lastLogged[subject] == text {
		return false
	}
	k.lastLogged[subject] = text
	return text != ""
}

func (k *Reconciler) logObstacles(o Options, d pressure.Decision) {
	var foreign []string
	for _, f := range d.Foreign {
		foreign = append(foreign, f.Node+": "+f.Description)
	}
	if k.isNewMessage("foreign", strings.Join(foreign, "\n")) {
		k.Log.Warn("labels or taints under the hint keys belong to another owner; Evenkeel leaves them unchanged",
			append([]any{"count", len(foreign), "nodes", abbreviate(foreign)}, removalCommand(o.Label, d.Foreign)...)...)
	}
	var invalid []string
	for _, r := range d.Invalid {
		invalid = append(invalid, r.Node+": "+r.Problem)
	}
	if k.isNewMessage("invalid", strings.Join(invalid, "\n")) {
		k.Log.Warn("nodes have an annotation that is not the record of a hint; Evenkeel removes it, and keeps the labels and taints that it names",
			"annotation", pressure.Key, "count", len(invalid), "nodes", abbreviate(invalid))
	}
	if k.isNewMessage("held", strings.Join(d.Unmeasured, " ")) {
		k.Log.Warn("there is no usage data for nodes with a hint; their hints stay until they expire", "count", len(d.Unmeasured), "nodes",
			abbreviate(d.Unmeasured))
	}
	if k.isNewMessage("capped", strings.Join(d.Capped, " ")) {
		k.Log.Info("more nodes are hot than may have a hint; only the hottest have one", "maxHintedFrac", o.MaxHintedFrac, "count",
			len(d.Capped), "without", abbreviate(d.Capped))
	}
}

// removalCommand returns a log field with a command that removes the hint label from all nodes,
// because a stopped program may have left the label there. removalCommand returns nil for other
// label values, because their meaning is unknown.
func removalCommand(label string, foreign []pressure.Foreign) []any {
	if !slices.ContainsFunc(foreign, func(f pressure.Foreign) bool { return f.Description == "label "+label }) {
		return nil
	}
	key, _, _ := strings.Cut(label, "=")
	return []any{"removeIfUnused", fmt.Sprintf("kubectl label nodes -l %s %s-", label, key)}
}

func (k *Reconciler) logDryRun(changes []pressure.Change) {
	now := map[string]string{}
	for _, c := range changes {
		text := "none"
		if c.Hint != nil {
			text = fmt.Sprint(c.Hint.Rules(), c.Hint.Description())
		}
		now[c.Node] = text
	}
	for _, c := range changes {
		if k.isNewMessage("would "+c.Node, now[c.Node]) {
			k.logChange(true, c.Node, c.Hint)
		}
	}
	maps.DeleteFunc(k.lastLogged, func(subject, _ string) bool {
		node, would := strings.CutPrefix(subject, "would ")
		return would && now[node] == ""
	})
}

// logChange logs the new hint of a node, or its removal. In a dry run it logs what would happen.
func (k *Reconciler) logChange(dryRun bool, node string, h *pressure.Hint) {
	written, goes := "pressure hint written", "pressure hint removed"
	if dryRun {
		written, goes = "dry run: a pressure hint would be written", "dry run: the pressure hint would be removed"
	}
	if h == nil {
		k.Log.Info(goes, "node", node)
		return
	}
	k.Log.Info(written, "node", node, "rules", h.Rules(), "value", h.Value, "hint", h.Description(), "expires", h.Expires.UTC())
}

func (k *Reconciler) logFailures(failures map[string][]string) {
	var text []string
	for _, reason := range slices.Sorted(maps.Keys(failures)) {
		text = append(text, abbreviate(failures[reason])+": "+reason)
	}
	if k.isNewMessage("failed", strings.Join(text, "; ")) {
		k.Log.Error("pressure hints could not be written; the next reconciliation tries again", "error", strings.Join(text, "; "))
	}
}

// reportRemovedRecords reports the invalid records on nodes that were written, and returns their number.
func (k *Reconciler) reportRemovedRecords(invalid []pressure.InvalidRecord, nodes []*corev1.Node, written []string) (removed int) {
	byName := nodesByName(nodes)
	for _, r := range invalid {
		if !slices.Contains(written, r.Node) {
			continue
		}
		removed++
		if k.OnInvalidRecord != nil {
			k.OnInvalidRecord(byName[r.Node], r.Problem)
		}
	}
	return removed
}

func nodesByName(nodes []*corev1.Node) map[string]*corev1.Node {
	out := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		out[n.Name] = n
	}
	return out
}

// OtherRule counts hints whose recorded rule is not configured, perhaps because the rule was renamed.
const OtherRule = "other"

// Counts contains the numbers of one reconciliation, for metrics.
type Counts struct {
	// ByRule is the number of nodes with a hint, by the rule recorded in the hint. OtherRule stands
	// for all rules that are not configured. In a dry run it is the number of nodes that would have
	// a hint.
	ByRule map[string]int
	// Unmeasured, Capped, Foreign and Unknown are numbers of nodes, as in pressure.Decision.
	Unmeasured, Capped, Foreign, Unknown int
	// InvalidRecords is the number of nodes with an invalid record. RemovedRecords is the number of
	// such records that this reconciliation removed or replaced.
	InvalidRecords, RemovedRecords int
	// Written and Failed are the numbers of node writes of this reconciliation.
	Written, Failed int
}

// countByRule counts the desired hints by rule. For nodes that could not be written, it counts the
// hint that is on the node instead.
func countByRule(o pressure.Options, hinted []pressure.Hint, nodes []*corev1.Node, undone []string) map[string]int {
	out := map[string]int{}
	for _, r := range o.Rules {
		out[r.Name] = 0
	}
	count := func(rule string) {
		// The names come from annotations, which a kubelet may write, and become a label of a metric.
		if !slices.ContainsFunc(o.Rules, func(r pressure.Rule) bool { return r.Name == rule }) {
			rule = OtherRule
		}
		out[rule]++
	}
	missed := sets.New(undone...)
	for _, h := range hinted {
		if !missed.Has(h.Node) {
			count(h.Rule)
		}
	}
	owned := o.Owned()
	for _, n := range nodes {
		if h, ours := owned.FromNode(n); ours && missed.Has(n.Name) {
			count(h.Rule)
		}
	}
	return out
}
