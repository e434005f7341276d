package ui

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// lastPlan is the plan that this program made last, or why none could be made. It is safe for concurrent use.
type lastPlan struct {
	mu   sync.Mutex
	at   time.Time
	view *view.View
	err  error
}

// planSummary is what a page says about the plan that was made last.
type planSummary struct {
	Strong, Text string
	Score        *scorePair
	Whole        bool
}

// planNow makes a plan. Planning takes longer than other requests.
func (s *Server) planNow(w http.ResponseWriter, r *http.Request, strategies []string) (*view.View, error) {
	ctx, cancel := context.WithTimeout(r.Context(), planTimeout)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(planTimeout + writeTimeout)) // not supported in tests
	return s.Plan(ctx, strategies)
}

// makePlan makes a plan for all strategies, and keeps it until the next one.
func (s *Server) makePlan(w http.ResponseWriter, r *http.Request) error {
	v, err := s.planNow(w, r, nil)
	s.made.mu.Lock()
	s.made.at, s.made.view, s.made.err = s.Clock.Now(), v, err
	s.made.mu.Unlock()
	http.Redirect(w, r, s.guard.base+"/cluster", http.StatusSeeOther)
	return nil
}

// lastPlan returns what the page says about the plan that was made last, or nil if none was made.
func (s *Server) lastPlan(q *request) *planSummary {
	s.made.mu.Lock()
	defer s.made.mu.Unlock()
	switch {
	case s.made.at.IsZero():
		return nil
	case s.made.err != nil:
		return &planSummary{Strong: "No plan could be made at " + q.clockTime(s.made.at) + ".", Text: observe.PlainError(s.made.err).Error() + "."}
	}
	p := &s.made.view.Plan
	n := len(p.Moves)
	for i := range p.Proposals {
		n += len(p.Proposals[i].Plan.Moves)
	}
	out := &planSummary{Whole: true, Strong: fmt.Sprintf("The plan made at %s would move %s.", q.clockTime(s.made.at), plural.Count(n, "pod"))}
	if before, after, known := p.Balance(); known {
		out.Score = &scorePair{fmt.Sprintf("%.1f", before.Score()), fmt.Sprintf("%.1f", after.Score()), "of 100"}
	}
	return out
}

// reportPolicy permits what a report contains: its style and its script.
var reportPolicy = "default-src 'none'; style-src " + html.Hash(html.Style) + "; script-src " + html.Hash(html.Script) +
	"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// showWholePlan serves the report of the plan that was made last.
func (s *Server) showWholePlan(w http.ResponseWriter, r *http.Request) error {
	s.made.mu.Lock()
	v := s.made.view
	s.made.mu.Unlock()
	if v == nil {
		q := s.begin(r, "message", "cluster")
		return s.tell(w, q, http.StatusNotFound, message{"No plan", "No plan was made yet.", "", "cluster", "Cluster"})
	}
	return writeReport(w, v)
}

// showStored serves the report of a stored plan.
func (s *Server) showStored(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "message", "plans")
	o, _, err := s.findPlan(q, r.PathValue("name"))
	if err != nil || o == nil {
		return s.tell(w, q, http.StatusNotFound, message{"No such plan", "The plan cannot be read.", "", "plans", "See the plans"})
	}
	v := view.Stored(o)
	if c := s.Configured(r.Context()); c != nil {
		v.Evicts, v.PerMinute, v.VerifyTimeout = c.Evicts, c.PerMinute, c.VerifyTimeout
	}
	return writeReport(w, v)
}

func writeReport(w http.ResponseWriter, v *view.View) error {
	var out bytes.Buffer
	if err := html.Write(&out, v, answers.Of(v)); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the browser may be gone
	return nil
}
