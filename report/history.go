package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// History is what stored plans say about the past.
type History struct {
	Now time.Time
	// Since is the earliest time, or zero for all that is kept.
	Since time.Time
	// Subject is the pod, workload or node whose moves are listed, such as pod shop/web-1. Without one, Plans are
	// listed.
	Subject string
	// Filter selects moves, and passes with such a move. LeftOut counts the others.
	Filter  plan.Filter
	LeftOut int
	// Plans and Moves are sorted by time, the newest first.
	Plans []v1alpha1.RebalancePlan
	Moves []record.PastMove
	// Counts are those of all moves since Since, or of the subject.
	Counts MoveCounts
	// Oldest is the time of the oldest plan that is kept, or zero if none is.
	Oldest time.Time
	// Omitted counts the moves since Since that plans leave out.
	Omitted int
}

// MoveCounts counts moves by strategy.
type MoveCounts map[string]MoveCount

// MoveCount counts the moves of a strategy.
type MoveCount struct{ moves, asPredicted, notAsPredicted, failed int }

// Add counts a move.
func (c MoveCounts) Add(m *record.PastMove) {
	n := c[m.Strategy]
	n.moves++
	switch {
	case !m.Evicted():
		n.failed++
	case landedWell(m):
		n.asPredicted++
	default:
		n.notAsPredicted++
	}
	c[m.Strategy] = n
}

// landedWell reports whether a pod was evicted and all went as the plan expected.
func landedWell(m *record.PastMove) bool {
	return m.Outcome.State == v1alpha1.StepEvicted && (m.Outcome.AsPredicted || m.Outcome.Reason == nil)
}

// WriteHistory writes h. The JSON and YAML forms are a list of the plans, or of the moves.
func WriteHistory(w io.Writer, format Format, h History, o Options) error {
	switch format {
	case JSON, YAML:
		var doc any = v1alpha1.RebalancePlanList{TypeMeta: listOf("RebalancePlanList"), Items: append([]v1alpha1.RebalancePlan{}, h.Plans...)}
		if h.Subject != "" {
			doc = struct {
				metav1.TypeMeta `json:",inline"`
				Items           []record.PastMove `json:"items"`
			}{listOf("PastMoveList"), append([]record.PastMove{}, h.Moves...)}
		}
		if format == JSON {
			return writeJSON(w, doc, "  ")
		}
		return writeYAML(w, doc)
	case HTML:
		d, _ := h.document()
		return html.WriteDocument(w, d)
	case Markdown:
		d, tables := h.document()
		page := layout.Page{}
		for _, text := range append([]answers.Text{d.Headline}, d.Facts...) {
			page.AddText(layout.Paragraph{Text: escape(text.String())})
		}
		for _, b := range tables.Blocks() {
			if b.Section != nil {
				page.AddSection(*b.Section)
			}
		}
		return writeMarkdown(w, &page)
	case Wide:
		o.Width = 0
	}
	if o.NoHeaders && h.Subject == "" {
		return writeRows(w, h.passes().Rows())
	} else if o.NoHeaders {
		return writeRows(w, h.moves().Rows())
	}
	if h.Subject == "" {
		fmt.Fprintln(w, h.heading(fmt.Sprintf("%d %s with moves", len(h.Plans), plural.Choose(len(h.Plans), "pass", "passes"))))
		if len(h.Plans) > 0 {
			if err := List(w, h.passes(), o); err != nil {
				return err
			}
		}
	} else {
		subject := escape(h.Subject)
		if strings.HasPrefix(subject, "pod ") && len(h.Moves) > 0 {
			subject += ", the pods that it replaced, and its replacements"
		}
		fmt.Fprintln(w, h.heading(plural.Count(len(h.Moves), "move")+" of "+subject))
		for _, chain := range h.chains() {
			fmt.Fprintln(w, "Replacements, the oldest pod first: "+chain)
		}
		if len(h.Moves) > 0 {
			if err := List(w, h.moves(), o); err != nil {
				return err
			}
		}
	}
	if len(h.Counts) > 0 {
		fmt.Fprintln(w)
		if err := List(w, h.Counts.grid(), o); err != nil {
			return err
		}
	}
	return writeBytes(w, []byte("\n"+strings.Join(h.unknown(), "\n")+"\n"))
}

func listOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind}
}

// filtered says what the filter selects, or returns "".
func (h *History) filtered() string {
	switch {
	case h.Filter.IsEmpty():
		return ""
	case h.Subject != "":
		return fmt.Sprintf("Filtered: shows only moves of %s; %s %s left out. ", escape(h.Filter.String()), plural.Count(h.LeftOut, "move"), plural.Choose(h.LeftOut, "is", "are"))
	}
	return fmt.Sprintf("Filtered: shows only passes with moves of %s; %d %s left out. ", escape(h.Filter.String()), h.LeftOut,
		plural.Choose(h.LeftOut, "other is", "others are"))
}

func (h *History) heading(what string) string {
	what = h.filtered() + what
	if h.Since.IsZero() {
		return what + ". Times are UTC."
	}
	return fmt.Sprintf("%s in the last %s, since %s. Times are UTC.", what, duration.HumanDuration(h.Now.Sub(h.Since)), h.Since.UTC().Format(time.RFC3339))
}

// historyTime is the form of times in tables.
const historyTime = "2006-01-02 15:04:05"

func (h *History) passes() *layout.Grid {
	g := layout.NewGrid("TIME", "STRATEGIES", "MODE", "PHASE", ">MOVES", ">EVICTED", ">AS PREDICTED", "SCORE", "*PLAN", "~STOPPED BECAUSE")
	for i := range h.Plans {
		o := &h.Plans[i]
		stopped := ""
		if x := o.Status.Stopped; x != nil {
			stopped = storedReason(x)
		}
		g.Add(record.PlannedAt(o).UTC().Format(historyTime), escape(o.Spec.StrategyNames), strategyMode(o.Spec.Mode), cmp.Or(string(o.Status.Phase), "-"),
			fmt.Sprint(o.Spec.MoveCount), fmt.Sprint(o.Status.Evicted), fmt.Sprint(o.Status.AsPredicted), orDash(escape(o.Spec.Score)), escape(o.Name), stopped)
	}
	return g
}

func storedReason(r *v1alpha1.Reason) string {
	return reasonText(plan.Reason{Code: plan.Code(r.Code), Message: r.Message})
}

func (h *History) moves() *layout.Grid {
	g := layout.NewGrid("TIME", "*POD", "FROM", "PREDICTED", "LANDED", "READY AFTER", "REPLACEMENT", "STRATEGY", "APPROVED BY", "PLAN", "~RESULT")
	for i := range h.Moves {
		m := &h.Moves[i]
		x := &m.Outcome
		ready, replacement := "-", "-"
		if x.ReadyAfter != nil {
			ready = x.ReadyAfter.Duration.String()
		}
		if x.Replacement != nil {
			replacement = escape(x.Replacement.Name)
		}
		g.Add(m.At().UTC().Format(historyTime), escape(podName(&m.Pod)), escape(m.From), orDash(escape(m.Predicted)), orDash(escape(x.Landed)), ready,
			replacement, escape(m.Strategy), orDash(escape(x.DecidedBy)), escape(m.Plan), resultText(m))
	}
	return g
}

func podName(p *v1alpha1.PodReference) string { return p.Namespace + "/" + p.Name }

// resultText says what became of a move.
func resultText(m *record.PastMove) string {
	text := map[v1alpha1.StepState]string{v1alpha1.StepEvicted: "evicted", v1alpha1.StepUnknown: "may have been evicted",
		v1alpha1.StepInProgress: "another program moves the pod", v1alpha1.StepBlocked: "not evicted", v1alpha1.StepGone: "was gone before",
		v1alpha1.StepDropped: "not evicted"}[m.Outcome.State]
	switch {
	case m.Outcome.AsPredicted:
		text += ", as predicted"
	case landedWell(m) && m.Removal != "":
		text += ", no replacement follows"
	}
	if m.Outcome.Reason != nil {
		text += ": " + storedReason(m.Outcome.Reason)
	}
	return text
}

// chains writes the pods of moves in the order in which each replaced the one before, if the moves are of one pod.
func (h *History) chains() (out []string) {
	if !strings.HasPrefix(h.Subject, "pod ") {
		return nil
	}
	for _, m := range slices.Backward(h.Moves) {
		if !m.Evicted() || m.Outcome.Replacement == nil {
			continue
		}
		if m.ReplacementOf == nil || len(out) == 0 {
			out = append(out, escape(podName(&m.Pod))+" on "+escape(m.From))
		}
		out[len(out)-1] += " -> " + escape(podName(m.Outcome.Replacement)) + " on " + cmp.Or(escape(m.Outcome.Landed), "no node yet")
	}
	return out
}

func (c MoveCounts) grid() *layout.Grid {
	g := layout.NewGrid("STRATEGY", ">MOVES", ">AS PREDICTED", ">NOT AS PREDICTED", ">NOT EVICTED")
	for _, name := range slices.Sorted(maps.Keys(c)) {
		n := c[name]
		g.Add(escape(name), fmt.Sprint(n.moves), fmt.Sprint(n.asPredicted), fmt.Sprint(n.notAsPredicted), fmt.Sprint(n.failed))
	}
	return g
}

// unknown says what the history does not contain.
func (h *History) unknown() []string {
	if h.Oldest.IsZero() {
		return []string{"No plan is stored. A pass stores its plan if it has moves, and Evenkeel deletes plans after the time history.keep."}
	}
	out := []string{fmt.Sprintf("The oldest plan that is kept is of %s (%s ago). Evenkeel deletes older plans (history.keep, and above 64 MiB). Passes without moves store none.",
		h.Oldest.UTC().Format(time.RFC3339), duration.HumanDuration(h.Now.Sub(h.Oldest)))}
	if h.Omitted > 0 {
		out = append(out, fmt.Sprintf("%s of large plans %s not stored: what became of them is only in the log of that time.", plural.Count(h.Omitted, "move"),
			plural.Choose(h.Omitted, "is", "are")))
	}
	return out
}
