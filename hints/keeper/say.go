package keeper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// news reports whether text is not what was said last about a subject. Looks come
// every few seconds, and what stays as it is, is said once.
func (k *Keeper) news(subject, text string) bool {
	if k.said[subject] == text {
		return false
	}
	k.said[subject] = text
	return text != ""
}

// say tells what keeps nodes from being hinted, or hints from being judged.
func (k *Keeper) say(o Options, d pressure.Decision) {
	var foreign []string
	for _, f := range d.Foreign {
		foreign = append(foreign, f.Node+": "+f.What)
	}
	if k.news("foreign", strings.Join(foreign, "\n")) {
		k.Log.Warn("labels or taints under the keys of hints are somebody else's and are left alone", append([]any{"count", len(foreign), "nodes", few(foreign)}, remedy(o.Label, d.Foreign)...)...)
	}
	if k.news("held", strings.Join(d.Held, " ")) {
		k.Log.Warn("nothing is known of hinted nodes; their hints stay until they expire", "count", len(d.Held), "nodes", few(d.Held))
	}
	if k.news("capped", strings.Join(d.Capped, " ")) {
		k.Log.Info("more nodes are hot than may be hinted; the hottest are", "maxHintedFrac", o.MaxHintedFrac, "count", len(d.Capped), "without", few(d.Capped))
	}
}

// remedy is how labels go that a program left which is not run any more: nobody else
// takes them away. Of other values than ours nothing is said, for they may mean anything.
func remedy(label string, foreign []pressure.Foreign) []any {
	if !slices.ContainsFunc(foreign, func(f pressure.Foreign) bool { return f.What == "label "+label }) {
		return nil
	}
	key, _, _ := strings.Cut(label, "=")
	return []any{"ifNobodyWritesThem", fmt.Sprintf("kubectl label nodes -l %s %s-", label, key)}
}

// wouldWrite is write for a dry run.
func (k *Keeper) wouldWrite(changes []pressure.Change) {
	now := map[string]string{}
	for _, c := range changes {
		text := "none"
		if c.Hint != nil {
			text = fmt.Sprint(c.Hint.Rules(), c.Hint.What())
		}
		now[c.Node] = text
	}
	for _, c := range changes {
		if k.news("would "+c.Node, now[c.Node]) {
			k.tell(true, c.Node, c.Hint)
		}
	}
	maps.DeleteFunc(k.said, func(subject, _ string) bool {
		node, would := strings.CutPrefix(subject, "would ")
		return would && now[node] == ""
	})
}

// tell says what becomes of a node, or in a dry run would.
func (k *Keeper) tell(dryRun bool, node string, h *pressure.Hint) {
	written, goes := "a pressure hint is written", "the pressure hint goes"
	if dryRun {
		written, goes = "dry run: a pressure hint would be written", "dry run: the pressure hint would go"
	}
	if h == nil {
		k.Log.Info(goes, "node", node)
		return
	}
	k.Log.Info(written, "node", node, "rules", h.Rules(), "value", h.Value, "hint", h.What(), "expires", h.Expires.UTC())
}

// complain says which nodes could not be written, once for each reason.
func (k *Keeper) complain(failures map[string][]string) {
	var text []string
	for _, reason := range slices.Sorted(maps.Keys(failures)) {
		text = append(text, few(failures[reason])+": "+reason)
	}
	if k.news("failed", strings.Join(text, "; ")) {
		k.Log.Error("pressure hints could not be written; it is tried again", "error", strings.Join(text, "; "))
	}
}
