// Package passlog logs what passes did: a line for each pass, and a line for each move.
//
// The package decides which facts the lines have, how many moves a pass may list, and how long a line may be. It never
// decides the format of the lines, and changes no report.
package passlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// Detail says what the log has about each pass.
type Detail string

const (
	None  Detail = "none"  // nothing
	Lines Detail = "lines" // a line for the pass, and a line for each move
	Full  Detail = "full"  // the lines, and the whole report in one more line, which may have megabytes
)

// Details returns all details.
func Details() []string { return []string{string(None), string(Lines), string(Full)} }

// A line is at most 2 KiB long. These are the longest texts in it, in bytes as encoded. An object that the API server
// accepts has a name of at most 253 bytes, so only names in other objects are cut.
const (
	maxName       = 253
	maxPod        = 63 + 1 + maxName // NAMESPACE/NAME
	maxWorkload   = 30 + 1 + maxName // KIND/NAME
	maxMessage    = 160
	maxStrategies = 200
	maxWord       = 64
)

const (
	// maxNotEvicted bounds the lines of a pass about moves that evicted nothing. Each eviction has a line.
	maxNotEvicted = 20
	// maxCodes bounds the reason codes that a line counts one by one.
	maxCodes = 6
	// maxWaiting bounds the waiting plans that a line names.
	maxWaiting = 3
)

// Log logs passes. Its methods must not run concurrently.
type Log struct {
	Logger *slog.Logger
	Detail Detail

	logged map[int]bool // by step of the current pass
}

// Batch logs the evictions of a batch that has ended, before the pass ends.
func (l *Log) Batch(r *plan.RunReport, done []plan.Outcome) {
	if l.Detail != None {
		l.outcomes(r, slices.DeleteFunc(slices.Clone(done), func(o plan.Outcome) bool { return !mayHaveEvicted(o.Outcome) }))
	}
}

// Pass logs the end of a pass, and its moves that no batch had.
func (l *Log) Pass(r *plan.RunReport) {
	if l.Detail == None {
		return
	}
	already := l.logged
	if r.Recovery != nil {
		l.logged = nil // the report of another run
	}
	left := l.outcomes(r, r.Outcomes)
	for _, of := range r.Plan.Proposals {
		for i := range of.Plan.Moves {
			if left++; left <= maxNotEvicted {
				l.line(slog.LevelInfo, "move", append(moveAttrs(r.RunID, &of.Plan.Moves[i]),
					slog.String("outcome", "proposed"), slog.String("decides", string(of.Mode)),
					slog.String("reason", string(of.Plan.Moves[i].Reason.Code)))...)
			}
		}
	}
	level := slog.LevelInfo
	if r.Stopped != nil || len(r.Plan.NothingJudged) > 0 {
		level = slog.LevelWarn
	}
	l.line(level, "pass ended", passAttrs(r, max(0, left-maxNotEvicted))...)
	if l.Detail == Full {
		var b bytes.Buffer
		if err := report.Run(&b, report.JSON, *r, report.Options{All: true}); err != nil {
			l.Logger.Error("the report was not logged", "run", r.RunID, "error", err)
		} else {
			l.line(slog.LevelInfo, "report", slog.String("run", r.RunID), slog.Any("report", json.RawMessage(b.Bytes())))
		}
	}
	if l.logged = nil; r.Recovery != nil {
		l.logged = already
	}
}

func (l *Log) line(level slog.Level, text string, attrs ...slog.Attr) {
	l.Logger.LogAttrs(context.Background(), level, text, attrs...)
}

// outcomes logs outcomes that were not logged before. It returns the number of those that evicted nothing, and logs
// only the first of these.
func (l *Log) outcomes(r *plan.RunReport, done []plan.Outcome) (notEvicted int) {
	moves := map[int]*plan.Move{}
	for _, m := range r.Moves() {
		moves[m.Step] = &m
	}
	if l.logged == nil {
		l.logged = map[int]bool{}
	}
	for i := range done {
		o := &done[i]
		if l.logged[o.Step] {
			continue
		}
		if !mayHaveEvicted(o.Outcome) {
			if notEvicted++; notEvicted > maxNotEvicted {
				continue
			}
		}
		l.logged[o.Step] = true
		m := plan.Move{Step: o.Step, Pod: o.Pod} // of a run whose plan ended with its process
		if known := moves[o.Step]; known != nil {
			m = *known
		}
		if m.To == o.Landed {
			m.To = ""
		}
		l.line(slog.LevelInfo, "move", append(moveAttrs(r.RunID, &m), outcomeAttrs(o)...)...)
	}
	return notEvicted
}

// mayHaveEvicted reports whether the move evicted its pod, or may have done so.
func mayHaveEvicted(k plan.OutcomeKind) bool {
	return k == plan.Evicted || k == plan.UnknownOutcome || k == plan.InProgress
}

// moveAttrs are what the plan says about a move. The node to which it goes is left out if the replacement landed there.
func moveAttrs(run string, m *plan.Move) []slog.Attr {
	out := []slog.Attr{slog.String("run", bound(run, maxWord)), slog.String("pod", bound(m.Pod.String(), maxPod))}
	if m.Owner.Kind != "" {
		out = append(out, slog.String("workload", bound(m.Owner.Kind+"/"+m.Owner.Name, maxWorkload)))
	}
	out = appendText(out, "from", m.From, maxName)
	out = appendText(out, "to", m.To, maxName)
	if m.Removal != "" {
		out = append(out, slog.String("removal", string(m.Removal)))
	}
	out = appendText(out, "strategy", m.Strategy, maxWord)
	out = append(out, slog.Int("step", m.Step))
	if m.Wave > 0 {
		out = append(out, slog.Int("wave", m.Wave))
	}
	return out
}

// outcomeAttrs are what became of a move. The message of a reason says more than its code only if the move did not go
// as planned.
func outcomeAttrs(o *plan.Outcome) []slog.Attr {
	out := []slog.Attr{slog.String("outcome", string(o.Outcome)), slog.String("reason", string(o.Reason.Code))}
	out = appendText(out, "landed", o.Landed, maxName)
	if o.Landed != "" {
		out = append(out, slog.Bool("asPredicted", o.LandedAsPredicted))
	}
	out = appendText(out, "readyAfter", o.ReadyAfter, maxWord)
	if o.Outcome != plan.WouldEvict && !o.LandedWell() {
		out = appendText(out, "message", o.Reason.Message, maxMessage)
	}
	return out
}

// passAttrs are the numbers of a pass, and why it ended. leftOut is the number of moves without a line.
func passAttrs(r *plan.RunReport, leftOut int) []slog.Attr {
	outcomes, notExecuted, asPredicted := map[plan.OutcomeKind]int{}, map[plan.Code]int{}, 0
	for _, o := range r.Outcomes {
		outcomes[o.Outcome]++
		if !mayHaveEvicted(o.Outcome) && o.Outcome != plan.WouldEvict {
			notExecuted[o.Reason.Code]++
		}
		if o.LandedWell() {
			asPredicted++
		}
	}
	proposed, unmet := 0, 0
	for _, of := range r.Plan.Proposals {
		proposed += len(of.Plan.Moves)
	}
	for _, st := range r.Plan.Strategies {
		unmet += st.Unmet
	}
	out := []slog.Attr{slog.String("run", bound(r.RunID, maxWord)), slog.String("mode", string(r.Mode))}
	out = appendText(out, "strategies", strategies(r), maxStrategies)
	out = append(out, slog.Int("planned", len(r.Moves())), slog.Int("proposed", proposed), slog.Int("evicted", outcomes[plan.Evicted]),
		slog.Int("asPredicted", asPredicted))
	for _, k := range []plan.OutcomeKind{plan.WouldEvict, plan.Blocked, plan.Dropped, plan.AlreadyGone, plan.UnknownOutcome, plan.InProgress} {
		out = appendCount(out, string(k), outcomes[k])
	}
	out = append(out, counts("notExecuted", notExecuted), counts("notMoved", r.Plan.Rejections.Counts),
		slog.Int("lowerBound", r.Plan.Bound.MinForPlan), slog.Int("unmetGoals", unmet))
	if before, after, known := r.Plan.Balance(); known {
		out = append(out, slog.Float64("score", tenths(before.Score())), slog.Float64("scoreAfter", tenths(after.Score())))
	}
	if r.Replan != nil {
		out = append(out, slog.Int("replanned", len(r.Replan.Moves)))
	}
	out = appendText(out, "nothingJudged", codes(r.Plan.NothingJudged), maxMessage)
	if r.Stopped != nil {
		out = append(out, slog.String("stopped", string(r.Stopped.Code)))
		out = appendText(out, "message", r.Stopped.Message, maxMessage)
	}
	out = appendText(out, "waitingPlans", waitingPlans(r.Waiting), maxMessage)
	if r.Waiting != nil && r.Waiting.Problem != nil {
		out = append(out, slog.String("notWaiting", string(r.Waiting.Problem.Code)))
	}
	if r.Approval != nil {
		out = appendText(out, "approvedBy", r.Approval.By, maxWord)
		out = appendText(out, "waitingPlan", r.Approval.WaitingPlan, maxWord)
	}
	if r.Recovery != nil {
		out = appendText(out, "recoveredFrom", r.Recovery.Holder, maxWord)
	}
	out = appendCount(out, "refusedFiles", len(r.Inputs))
	out = appendCount(out, "movesNotLogged", leftOut)
	return append(out, slog.String("plan", bound(r.Plan.ID, maxWord)), slog.String("duration", r.Finished.Sub(r.Started).Round(time.Millisecond).String()))
}

// strategies names the strategies that were due, or those of the moves of an approved plan.
func strategies(r *plan.RunReport) string {
	names := r.Due
	if names == nil {
		for _, st := range r.Plan.Strategies {
			names = append(names, st.Name)
		}
	}
	if names == nil {
		for _, m := range r.Moves() {
			if !slices.Contains(names, m.Strategy) {
				names = append(names, m.Strategy)
			}
		}
	}
	return strings.Join(names, ",")
}

func waitingPlans(w *plan.Waiting) string {
	if w == nil {
		return ""
	}
	var ids []string
	for _, p := range w.Plans[:min(len(w.Plans), maxWaiting)] {
		ids = append(ids, bound(p.ID, maxMessage/maxWaiting-1))
	}
	return strings.Join(ids, ",")
}

func codes(reasons []plan.Reason) string {
	var out []string
	for _, r := range reasons {
		out = append(out, string(r.Code))
	}
	return strings.Join(out, ",")
}

// counts lists the most frequent codes with their counts, and the sum of the others. A group without codes is left out
// of the line.
func counts(group string, of map[plan.Code]int) slog.Attr {
	list := slices.SortedFunc(maps.Keys(of), func(a, b plan.Code) int { return cmp.Or(of[b]-of[a], cmp.Compare(a, b)) })
	var out []slog.Attr
	others := 0
	for i, code := range list {
		if i < maxCodes {
			out = appendCount(out, string(code), of[code])
		} else {
			others += of[code]
		}
	}
	return slog.Attr{Key: group, Value: slog.GroupValue(appendCount(out, "others", others)...)}
}

func appendCount(to []slog.Attr, key string, n int) []slog.Attr {
	if n == 0 {
		return to
	}
	return append(to, slog.Int(key, n))
}

func appendText(to []slog.Attr, key, text string, limit int) []slog.Attr {
	if text == "" {
		return to
	}
	return append(to, slog.String(key, bound(text, limit)))
}

func tenths(score float64) float64 { return float64(int(score*10+0.5)) / 10 }

// bound returns the start of a text that takes at most limit bytes in a log line, and marks that it was cut. A handler
// writes characters that it escapes as up to 12 bytes.
func bound(text string, limit int) string {
	const mark = "..."
	fits := 0 // the start that leaves room for the mark
	for i, r := range text {
		n := utf8.RuneLen(r)
		switch {
		case r == '"' || r == '\\':
			n = 2
		case r == utf8.RuneError || !unicode.IsPrint(r):
			n = 12
		}
		if limit -= n; limit < 0 {
			return text[:fits] + mark
		}
		if limit >= len(mark) {
			fits = i + utf8.RuneLen(r)
		}
	}
	return text
}
