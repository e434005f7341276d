package reconciler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// isNew reports whether text is not what was said last about a subject. Looks come
// every few seconds, and what stays as it is, is said once.
func (k *Reconciler) isNew(subject, text string) bool {
	if k.lastLogged[subject] == text {
		return false
	}
	k.lastLogged[subject] = text
	return text != ""
}

// logObstacles tells what keeps nodes from being hinted, or hints from being judged.
func (k *Reconciler) logObstacles(o Options, d pressure.Decision) {
	var foreign []string
	for _, f := range d.Foreign {
		foreign = append(foreign, f.Node+": "+f.Description)
	}
	if k.isNew("foreign", strings.Join(foreign, "\n")) {
		k.Log.Warn("labels or taints under the keys of hints are somebody else's and are left alone", append([]any{"count", len(foreign), "nodes", abbreviate(foreign)}, removalCommand(o.Label, d.Foreign)...)...)
	}
	if k.isNew("held", strings.Join(d.Unmeasured, " ")) {
		k.Log.Warn("nothing is known of hinted nodes; their hints stay until they expire", "count", len(d.Unmeasured), "nodes", abbreviate(d.Unmeasured))
	}
	if k.isNew("capped", strings.Join(d.Capped, " ")) {
		k.Log.Info("more nodes are hot than may be hinted; the hottest are", "maxHintedFrac", o.MaxHintedFrac, "count", len(d.Capped), "without", abbreviate(d.Capped))
	}
}

// removalCommand is how labels go that a program left which is not run any more: nobody else
// takes them away. Of other values than ours nothing is said, for they may mean anything.
func removalCommand(label string, foreign []pressure.Foreign) []any {
	if !slices.ContainsFunc(foreign, func(f pressure.Foreign) bool { return f.Description == "label "+label }) {
		return nil
	}
	key, _, _ := strings.Cut(label, "=")
	return []any{"ifNobodyWritesThem", fmt.Sprintf("kubectl label nodes -l %s %s-", label, key)}
}

// logDryRun is write for a dry run.
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
		if k.isNew("would "+c.Node, now[c.Node]) {
			k.logChange(true, c.Node, c.Hint)
		}
	}
	maps.DeleteFunc(k.lastLogged, func(subject, _ string) bool {
		node, would := strings.CutPrefix(subject, "would ")
		return would && now[node] == ""
	})
}

// logChange says what becomes of a node, or in a dry run would.
func (k *Reconciler) logChange(dryRun bool, node string, h *pressure.Hint) {
	written, goes := "a pressure hint is written", "the pressure hint goes"
	if dryRun {
		written, goes = "dry run: a pressure hint would be written", "dry run: the pressure hint would go"
	}
	if h == nil {
		k.Log.Info(goes, "node", node)
		return
	}
	k.Log.Info(written, "node", node, "rules", h.Rules(), "value", h.Value, "hint", h.Description(), "expires", h.Expires.UTC())
}

// logFailures says which nodes could not be written, once for each reason.
func (k *Reconciler) logFailures(failures map[string][]string) {
	var text []string
	for _, reason := range slices.Sorted(maps.Keys(failures)) {
		text = append(text, abbreviate(failures[reason])+": "+reason)
	}
	if k.isNew("failed", strings.Join(text, "; ")) {
		k.Log.Error("pressure hints could not be written; it is tried again", "error", strings.Join(text, "; "))
	}
}
