package reconciler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// logObstacles logs why nodes get no hint or cannot be evaluated.
func (k *Reconciler) logObstacles(o Options, d pressure.Decision) {
	var foreign []string
	for _, f := range d.Foreign {
		foreign = append(foreign, f.Node+": "+f.Description)
	}
	if k.isNewMessage("foreign", strings.Join(foreign, "\n")) {
		k.Log.Warn("labels or taints under the hint keys belong to another owner; Evenkeel leaves them unchanged",
			append([]any{"count", len(foreign), "nodes", abbreviate(foreign)}, removalCommand(o.Label, d.Foreign)...)...)
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

// logDryRun logs the changes that a live reconciler would write.
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

// logFailures logs which nodes could not be written, once for each reason.
func (k *Reconciler) logFailures(failures map[string][]string) {
	var text []string
	for _, reason := range slices.Sorted(maps.Keys(failures)) {
		text = append(text, abbreviate(failures[reason])+": "+reason)
	}
	if k.isNewMessage("failed", strings.Join(text, "; ")) {
		k.Log.Error("pressure hints could not be written; the next reconciliation tries again", "error", strings.Join(text, "; "))
	}
}
