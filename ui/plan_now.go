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
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/html"
)

// lastPlan is the plan that this program made last, or why none could be made. It is safe for concurrent use.
type lastPlan struct {
	mu   sync.Mutex
	at   time.Time
	plan *plan.Plan
	err  error
}

// planSummary is what a page says about the plan that was made last.
type planSummary struct {
	Strong, Text string
	Score        *scorePair
	Whole        bool
}

// planNow makes a plan. Planning takes longer than other requests.
func (s *Server) planNow(w http.ResponseWriter, r *http.Request, strategies []string) (*plan.Plan, error) {
	ctx, cancel := context.WithTimeout(r.Context(), planTimeout)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(planTimeout + writeTimeout)) // not supported in tests
	return s.Plan(ctx, strategies)
}

// makePlan makes a plan for all strategies, and keeps it until the next one.
func (s *Server) makePlan(w http.ResponseWriter, r *http.Request) error {
	p, err := s.planNow(w, r, nil)
	s.made.mu.Lock()
	s.made.at, s.made.plan, s.made.err = s.Clock.Now(), p, err
	s.made.mu.Unlock()
	http.Redirect(w, r, s.guard.base+"/cluster", http.StatusSeeOther)
	return nil
}

// lastPlan returns what the page says about the plan that was made last, or nil if none was made.
func (s *Server) lastPlan(q *request) *planSummary {
	s.made.mu.Lock()
	defer s.made.mu.Unlock()
	p := s.made.plan
	switch {
	case s.made.at.IsZero():
		return nil
	case s.made.err != nil:
		return &planSummary{Strong: "No plan could be made at " + q.clockTime(s.made.at) + ".", Text: observe.PlainError(s.made.err).Error() + "."}
	}
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
	p := s.made.plan
	s.made.mu.Unlock()
	if p == nil {
		q := s.begin(r, "message", "cluster")
		return s.tell(w, q, http.StatusNotFound, message{"No plan", "No plan was made yet.", "", "cluster", "Cluster"})
	}
	var out bytes.Buffer
	if err := report.Plan(&out, report.HTML, *p); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the browser may be gone
	return nil
}
