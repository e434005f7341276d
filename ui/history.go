package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/record"
)

// maxPassRows bounds the rows of a list of passes, and maxPodRows those of a pod.
const (
	maxPassRows = 100
	maxPodRows  = 100
)

type historyPage struct {
	State, Headline string
	Rows            []passRow
	Left            int
	Oldest, Gap     string
	Query           string // of a pod
}

func (s *Server) showHistory(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "history", "history")
	if pod := strings.TrimSpace(r.URL.Query().Get("pod")); strings.Count(pod, "/") == 1 {
		http.Redirect(w, r, q.Base+"/history/"+pod, http.StatusSeeOther)
		return nil
	}
	h := historyPage{State: "History", Headline: "No pass is stored yet."}
	for _, p := range q.passes {
		if p.status.Phase == v1alpha1.PhaseWaiting || p.status.Phase == v1alpha1.PhaseApproved || p.status.Phase == "" {
			continue
		}
		if h.Oldest = q.clockTime(p.at); len(h.Rows) == maxPassRows {
			h.Left++
			continue
		}
		h.Rows = append(h.Rows, q.passRow(p))
	}
	evicted, predicted := int32(0), int32(0)
	for _, p := range q.passes {
		evicted, predicted = evicted+p.status.Evicted, predicted+p.status.AsPredicted
	}
	switch {
	case q.client == nil && q.NotLive == "":
		h.Headline = "There is no history: no release of Evenkeel was found in " + s.Cluster + "."
	case q.gap != "" && len(h.Rows) == 0:
		h.Headline = q.gap
	case len(h.Rows) > 0:
		h.Gap = q.gap
		h.Headline = fmt.Sprintf("Since %s, passes moved %s, %d of them as predicted.", h.Oldest, plural.Count(int(evicted), "pod"), predicted)
	}
	q.Title = h.Headline
	return s.write(w, q, http.StatusOK, h)
}

// podPage is the moves of one pod, of the pods before it and after it.
type podPage struct {
	Pod, Namespace, Name string
	Headline             string
	Rows                 []podRow
	Cut                  bool
	Gap                  string // why not all moves are known
	Oldest               string
}

type podRow struct {
	At, Plan, Who, Why, Pod, From, To, Note string
}

func (s *Server) showPod(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "pod", "history")
	p := q.podHistory(r.PathValue("ns") + "/" + r.PathValue("pod"))
	q.Title = p.Headline
	return s.write(w, q, http.StatusOK, p)
}

func (q *request) podHistory(pod string) *podPage {
	out := &podPage{Pod: pod, Headline: "Who moved " + pod + "?", Gap: q.gap}
	out.Namespace, out.Name, _ = strings.Cut(pod, "/")
	var moves []record.PastMove
	for _, p := range q.passes {
		out.Cut = out.Cut || p.cut
		for i := range p.past {
			if p.past[i].Pod.Namespace == out.Namespace {
				moves = append(moves, p.past[i])
			}
		}
		out.Oldest = q.clockTime(p.at)
	}
	slices.SortStableFunc(moves, func(a, b record.PastMove) int { return a.At().Compare(b.At()) })
	for _, m := range record.Chain(moves, func(p v1alpha1.PodReference) bool { return p.Name == out.Name }) {
		if len(out.Rows) == maxPodRows {
			break
		}
		out.Rows = append(out.Rows, q.podRow(&m))
	}
	return out
}

func (q *request) podRow(m *record.PastMove) podRow {
	row := podRow{At: q.clockTime(m.At()), Plan: m.Plan, Who: "Evenkeel, automatic.", Why: m.Strategy + ": " + m.Why.Message, Pod: m.Pod.Name, From: m.From,
		To: cmp.Or(m.Outcome.Landed, "unknown")}
	if m.Outcome.DecidedBy != "" {
		row.Who = "Evenkeel, approved by " + m.Outcome.DecidedBy + "."
	}
	switch kind := stepKind(&m.Outcome); {
	case !m.Evicted():
		row.Who, row.To = "Nobody.", m.From
		row.Note = "not evicted"
		if m.Outcome.Reason != nil {
			row.Note += ": " + cmp.Or(m.Outcome.Reason.Message, m.Outcome.Reason.Code)
		}
	case kind == "predicted":
		row.Note = "as predicted"
	case kind == "elsewhere" && m.Predicted != "":
		row.Note = "elsewhere, " + m.Predicted + " was predicted"
	case m.Removal != "":
		row.Note, row.To = "no replacement follows", "removed"
	}
	if d := m.Outcome.ReadyAfter; d != nil {
		row.Note += "; ready after " + span(d.Duration)
	}
	return row
}
