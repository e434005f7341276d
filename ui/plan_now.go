package ui

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxPlanRows bounds the moves of a plan made now that are listed.
const maxPlanRows = 100

// planSummary is a plan that this program made now.
type planSummary struct {
	Headline, Error string
	Score           *scorePair
	Moves           []planMove
	Left            int
}

type planMove struct {
	Step, Wave                               int
	Namespace, Name, From, To, Sure, Why, Of string
}

// planNow makes a plan. Planning takes longer than other requests.
func (s *Server) planNow(w http.ResponseWriter, r *http.Request, strategies []string) (*plan.Plan, error) {
	ctx, cancel := context.WithTimeout(r.Context(), planTimeout)
	defer cancel()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(planTimeout + writeTimeout)) // not supported in tests
	return s.Plan(ctx, strategies)
}

func (s *Server) showPlanNow(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "cluster", "cluster")
	made := &planSummary{}
	p, err := s.planNow(w, r, nil)
	if err != nil {
		made.Headline, made.Error = "No plan could be made.", observe.PlainError(err).Error()+"."
		return s.writeCluster(w, q, made)
	}
	all := p.Moves
	for _, x := range p.Proposals {
		all = append(all, x.Plan.Moves...)
	}
	made.Headline = fmt.Sprintf("A plan made at %s would move %s.", q.clockTime(p.TakenAt), plural.Count(len(all), "pod"))
	if before, after, known := p.Balance(); known {
		made.Score = &scorePair{fmt.Sprintf("%.1f", before.Score()), fmt.Sprintf("%.1f", after.Score()), "of 100, with all moves"}
	}
	made.Left = max(0, len(all)-maxPlanRows)
	for _, m := range all[:min(len(all), maxPlanRows)] {
		made.Moves = append(made.Moves, planMove{m.Step, m.Wave, m.Pod.Namespace, m.Pod.Name, m.From, m.To, percent.Of(m.Confidence), m.Reason.Message, m.Strategy})
	}
	return s.writeCluster(w, q, made)
}
