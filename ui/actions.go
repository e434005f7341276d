package ui

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// Bounds of a pause and of the list of requests.
const (
	maxReasonLength = 200
	maxRequests     = 20
)

// ends are the ends of a pause that the form offers, the first one by default.
var ends = []struct {
	Value, Text string
	after       time.Duration
}{{"1h", "1 hour", time.Hour}, {"30m", "30 minutes", 30 * time.Minute}, {"4h", "4 hours", 4 * time.Hour}, {"24h", "24 hours", 24 * time.Hour},
	{"", "until somebody ends it", 0}}

type pausePage struct {
	State, Headline, Text string
	Active                bool
	Reason                string
	Ends                  any
	Next                  []nextRow
}

func (s *Server) showPause(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "pause", "overview")
	pp := pausePage{State: "Evictions are allowed", Headline: "Pause all evictions?", Ends: ends,
		Text: "No further eviction starts. Those in progress are watched to their end. Plans are still made, and steps cannot be approved."}
	if p := q.pause(); p != nil {
		pp.Active, pp.State, pp.Headline, pp.Text = true, "Paused", "End the pause? Evictions may begin again.", "Now: "+pauseText(p)+"."
	}
	if c := q.comesNext(); c != nil {
		pp.Next = c.Rows
	}
	q.Title = pp.Headline
	return s.write(w, q, http.StatusOK, pp)
}

// tell answers with a page that says one thing.
func (s *Server) tell(w http.ResponseWriter, q *request, status int, m message) error {
	q.Template, q.Title = "message", m.Headline
	return s.write(w, q, status, m)
}

// changes reads what the API server says, and tells the person if nothing can be changed.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) (q *request, told bool, err error) {
	q = s.begin(r, "message", "overview")
	switch {
	case q.Token == "":
		return q, true, s.tell(w, q, http.StatusServiceUnavailable, message{"Nothing was changed", "The API server does not answer.", "Nothing can be changed until it does.", "", "Overview"})
	case q.client == nil:
		return q, true, s.tell(w, q, http.StatusConflict, message{"Nothing was changed", "There is no release of Evenkeel.", "", "", "Overview"})
	}
	return q, false, nil
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) error {
	q, told, err := s.changes(w, r)
	if told {
		return err
	}
	want := plan.Pause{Since: q.now.Truncate(time.Second), By: q.User, Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	i := slices.IndexFunc(ends, func(e struct {
		Value, Text string
		after       time.Duration
	}) bool {
		return e.Value == r.PostForm.Get("until")
	})
	if i < 0 || utf8.RuneCountInString(want.Reason) > maxReasonLength {
		return s.tell(w, q, http.StatusBadRequest, message{"Evictions are not paused", fmt.Sprintf("The form is not complete, or the reason has more than %d characters.", maxReasonLength),
			"", "pause", "Try again"})
	}
	if ends[i].after > 0 {
		want.Until = want.Since.Add(ends[i].after)
	}
	_, err = state.PauseStore{Objects: q.client, Clock: s.Clock}.Pause(r.Context(), want)
	return s.changed(w, q, "Evictions are not paused", err)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) error {
	q, told, err := s.changes(w, r)
	if told {
		return err
	}
	_, err = state.PauseStore{Objects: q.client, Clock: s.Clock}.Resume(r.Context())
	return s.changed(w, q, "The pause is unchanged", err)
}

// changed leads to the first page, or says why nothing was changed.
func (s *Server) changed(w http.ResponseWriter, q *request, not string, err error) error {
	s.source.changed.Store(true)
	if err != nil {
		return s.tell(w, q, http.StatusConflict, message{not, "The API server refused the change.", observe.PlainError(err).Error() + ".", "", "Overview"})
	}
	http.Redirect(w, q.Request, q.Base+"/", http.StatusSeeOther)
	return nil
}

// runPage is the page from which a person runs strategies now.
type runPage struct {
	State, Headline, Text string
	Strategies            []nextRow
	Chosen                []string
	Planned               bool
	Pods                  []string
	NoPlan                string // why no plan could be made
	Requests              []requestRow
	Missing               string
}

type requestRow struct{ At, Strategies, By, State, Plan string }

func (s *Server) showRun(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "run", "overview")
	rp := runPage{State: "Nothing is requested", Headline: "Run strategies now?",
		Text: "Choose strategies. The next page names the pods that a pass would most likely move; nothing happens before you confirm there."}
	s.fillRun(q, &rp)
	q.Title = rp.Headline
	return s.write(w, q, http.StatusOK, rp)
}

// fillRun adds the strategies, the requests, and the right that is missing.
func (s *Server) fillRun(q *request, rp *runPage) {
	if c := q.comesNext(); c != nil {
		rp.Strategies = c.Rows
	}
	if q.client == nil {
		rp.Headline, rp.Text = "There is no release of Evenkeel, so nothing can run.", ""
		return
	}
	if need := ofEvenkeel("create", "rebalanceruns", q.Namespace); !s.rights.may(q.Context(), need) {
		rp.Missing = need.String()
	}
	all, err := newestRuns(q.Context(), q.client)
	if err != nil {
		return // the table is left out
	}
	for i := range all {
		o := &all[i]
		row := requestRow{At: q.clockTime(o.CreationTimestamp.Time), Strategies: strings.Join(o.Spec.Strategies, ", "), By: o.Spec.By, State: "waits", Plan: o.Status.Plan}
		if o.Status.Phase != "" {
			row.State = strings.ToLower(string(o.Status.Phase))
		}
		if o.Status.Message != "" {
			row.State += ": " + o.Status.Message
		}
		rp.Requests = append(rp.Requests, row)
	}
}

// newestRuns returns the newest requests, of the first maxNames, because the API server sorts them by name.
func newestRuns(ctx context.Context, c *objects.Client) (out []v1alpha1.RebalanceRun, err error) {
	for next, listed := "", 0; listed < maxNames; {
		page, err := c.Runs.List(ctx, metav1.ListOptions{Limit: namesPage, Continue: next})
		if err != nil {
			return nil, err
		}
		out, listed = append(out, page.Items...), listed+len(page.Items)
		slices.SortStableFunc(out, func(a, b v1alpha1.RebalanceRun) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
		out = slices.Clone(out[:min(len(out), maxRequests)])
		if next = page.Continue; next == "" {
			break
		}
	}
	return out, nil
}

// run plans for the chosen strategies, or, after the confirmation, requests the pass.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	q, told, err := s.changes(w, r)
	if told {
		return err
	}
	var chosen []string
	for _, st := range q.status().Strategies {
		if slices.Contains(r.PostForm["strategy"], st.Name) {
			chosen = append(chosen, st.Name)
		}
	}
	if len(chosen) == 0 {
		return s.tell(w, q, http.StatusBadRequest, message{"Nothing was requested", "No strategy is chosen.", "", "run", "Choose strategies"})
	}
	if r.PostForm.Get("do") == "run" {
		_, err := q.client.Runs.Create(r.Context(), &v1alpha1.RebalanceRun{ObjectMeta: metav1.ObjectMeta{GenerateName: chosen[0] + "-"},
			Spec: v1alpha1.RebalanceRunSpec{Strategies: chosen, By: q.User}}, metav1.CreateOptions{})
		s.source.changed.Store(true)
		if err != nil {
			return s.tell(w, q, http.StatusConflict, message{"Nothing was requested", "The API server refused the request.", observe.PlainError(err).Error() + ".", "run", "Run now"})
		}
		http.Redirect(w, r, q.Base+"/run", http.StatusSeeOther)
		return nil
	}
	q.Template = "run"
	rp := runPage{Planned: true, Chosen: chosen, State: "Planned now"}
	s.fillRun(q, &rp)
	v, err := s.planNow(w, r, chosen)
	if err != nil {
		rp.NoPlan = observe.PlainError(err).Error()
		rp.Headline = "Run " + answers.Join(chosen) + " now? The pods cannot be named."
		rp.Text = "The limits of a pass bound what it evicts."
	} else {
		moves := v.Plan.Moves
		for _, x := range v.Plan.Proposals {
			if x.Mode == plan.Approve {
				moves = append(moves, x.Plan.Moves...)
			}
		}
		for _, m := range moves {
			rp.Pods = append(rp.Pods, m.Pod.Namespace+"/"+m.Pod.Name)
		}
		rp.Headline = fmt.Sprintf("Run %s now? Most likely %s would move.", answers.Join(chosen), plural.Count(len(moves), "pod"))
		rp.Text = "The release plans again, so the pass may move other pods, within its limits. Moves of strategies in mode approve wait for a decision."
	}
	q.Title = rp.Headline
	return s.write(w, q, http.StatusOK, rp)
}
