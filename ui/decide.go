package ui

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// maxNamedPods is the number of pods above which a confirmation closes their names and asks for their number.
const maxNamedPods = 50

// confirmation is what a person confirms: the second of two presses.
type confirmation struct {
	Verb           waiting.Verb
	Title, Button  string
	Steps          string
	Count          int
	Pods           []string
	Types          bool // the number of pods must be typed
	Workloads      string
	Waves          int
	HowLong        string // empty if it is unknown
	Added          string // steps that belong to the chosen ones
	Approves       bool
	Until, By, Why string // Why: nothing can be decided
	Note           string
}

// message is a page that says one thing.
type message struct{ State, Headline, Text, Link, LinkText string }

// chosen returns the steps that the first press chose.
func (q *request) chosen(p *waiting.Plan) map[int]bool {
	out := map[int]bool{}
	form := q.URL.Query()
	for _, text := range form["step"] {
		ranges, err := waiting.ParseSteps(text)
		if err != nil {
			continue
		}
		for _, r := range ranges {
			for step := r.First; step <= r.Last && len(out) < maxChosen; step++ {
				out[step] = true
			}
		}
	}
	for i := range form["strategy"] {
		for k := 0; p != nil && k < len(p.Moves); k++ {
			if m := &p.Moves[k]; m.Strategy == form["strategy"][i] && p.StateOf(m.Step).State == waiting.Waiting {
				out[m.Step] = true
			}
		}
	}
	return out
}

// maxChosen bounds the chosen steps; an object has at most 2,000.
const maxChosen = 2000

// confirm adds the confirmation that the first press asks for.
func (s *Server) confirm(pp *planPage, q *request, o *v1alpha1.RebalancePlan, p *waiting.Plan) {
	verb := waiting.Verb(q.URL.Query().Get("do"))
	if verb != waiting.ToApprove && verb != waiting.ToDiscard || !pp.Decides {
		return
	}
	c := &confirmation{Verb: verb, Approves: verb == waiting.ToApprove, By: q.User, Until: q.clockTime(p.Expires)}
	pp.Confirm = c
	if seen := q.URL.Query().Get("version"); seen != "" && seen != o.ResourceVersion {
		c.Why, c.Note = "The plan changed while you read it. Nothing was decided.", "Below is the plan as it is now; choose again."
		return
	}
	var ranges []waiting.Range
	for step := range q.chosen(p) {
		ranges = append(ranges, waiting.Range{First: step, Last: step})
	}
	if len(ranges) == 0 {
		c.Why = "No step is chosen. Choose steps above, then press the button again."
		return
	}
	steps, needed, err := p.Choose(waiting.StepSelection{Steps: ranges}, verb)
	if err != nil {
		c.Why = "Nothing can be decided: " + err.Error() + "."
		return
	}
	c.describe(p, steps, needed)
	c.HowLong = howLong(s.Configured(q.Context()), c.Count, c.Waves)
}

// howLong says how long evictions of a stored plan take.
func howLong(conf *view.Context, pods, waves int) string {
	if conf == nil || conf.PerMinute <= 0 {
		return ""
	}
	least, most := answers.Duration(conf, pods, waves, 0)
	return fmt.Sprintf("From %s to %s%s,", span(least), span(most), answers.WithoutTermination)
}

func (c *confirmation) describe(p *waiting.Plan, steps, needed []int) {
	c.Steps, c.Count = waiting.FormatSteps(steps), len(steps)
	counts, namespaces, waves := map[string]int{}, map[string]bool{}, map[int]bool{}
	var order []string
	for _, m := range p.Moves {
		if !slices.Contains(steps, m.Step) {
			continue
		}
		c.Pods = append(c.Pods, m.Pod.Namespace+"/"+m.Pod.Name)
		owner := cmp.Or(m.Owner.Kind, "Pod") + " " + m.Pod.Namespace + "/" + cmp.Or(m.Owner.Name, m.Pod.Name)
		if counts[owner]++; counts[owner] == 1 {
			order = append(order, owner)
		}
		namespaces[m.Pod.Namespace], waves[m.Wave] = true, true
	}
	c.Types, c.Waves = len(c.Pods) > maxNamedPods, len(waves)
	for i, owner := range order {
		order[i] = fmt.Sprintf("%s (%s)", owner, plural.Count(counts[owner], "pod"))
	}
	c.Workloads = fmt.Sprintf("%d, in %s: %s.", len(order), plural.Count(len(namespaces), "namespace"), strings.Join(order, ", "))
	if len(needed) > 0 {
		c.Added = fmt.Sprintf("%s %s included: steps that belong together are decided together.", plural.Noun(len(needed), "Step")+" "+stepsInWords(needed),
			plural.Choose(len(needed), "is", "are"))
	}
	which := fmt.Sprintf("%s %s of %d", plural.Noun(len(steps), "step"), stepsInWords(steps), len(p.Moves))
	these := plural.Choose(len(c.Pods), "this 1 pod", fmt.Sprintf("these %d pods", len(c.Pods)))
	if c.Approves {
		c.Title, c.Button = "Approve "+which+"? At most "+these+" will be evicted.", "Evict "+these
		return
	}
	c.Title = "Discard " + which + "? No pod is evicted."
	c.Button = "Discard " + plural.Choose(len(steps), "this step", fmt.Sprintf("these %d steps", len(steps)))
}

// stepsInWords writes sorted steps, such as "1 and 3 to 6".
func stepsInWords(steps []int) string {
	parts := strings.Split(waiting.FormatSteps(steps), ",")
	for i := range parts {
		parts[i] = strings.Replace(parts[i], "-", " to ", 1)
	}
	return answers.Join(parts)
}

// decide writes a decision: the second press.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "message", "plans")
	name, form := r.PathValue("name"), r.PostForm
	verb := waiting.Verb(form.Get("do"))
	refuse := func(headline, text string) error {
		q.Title = headline
		return s.write(w, q, http.StatusConflict, message{State: "Nothing was decided", Headline: headline, Text: text, Link: "plans/" + url.PathEscape(name), LinkText: "Open the plan"})
	}
	if q.client == nil || q.Token == "" {
		return refuse("The API server does not answer.", "No decision can be made until it does.")
	}
	steps, err := waiting.ParseSteps(form.Get("steps"))
	seen := waiting.Version{UID: types.UID(form.Get("uid")), ResourceVersion: form.Get("version")}
	count := 0
	for _, x := range steps {
		count += x.Last - x.First + 1
	}
	if p := q.findPlan(name); p != nil && err == nil {
		if all, _, failed := p.Choose(waiting.StepSelection{Steps: steps}, verb); failed == nil { // Decide tells what failed
			count = len(all)
		}
	}
	switch {
	case err != nil, seen.UID == "", seen.ResourceVersion == "", !slices.Contains([]waiting.Verb{waiting.ToApprove, waiting.ToDiscard, waiting.ToUndo}, verb):
		return refuse("The form is not complete.", "Load the plan again.")
	case verb == waiting.ToApprove && count > maxNamedPods && strings.TrimSpace(form.Get("typed")) != strconv.Itoa(count):
		return refuse("The number of pods that you typed is not "+strconv.Itoa(count)+".", "Go back, and type the number of pods that will be evicted.")
	}
	if p := q.pause(); p != nil && verb == waiting.ToApprove {
		return refuse("Evictions are paused.", "Approved steps would be dropped: "+pauseText(p)+". End the pause first, or wait for its end.")
	}
	_, err = waiting.New(q.client).Decide(r.Context(), name, verb, waiting.StepSelection{Steps: steps, Seen: seen}, q.User, q.now)
	s.source.changed.Store(true)
	switch {
	case err == nil:
		http.Redirect(w, r, q.Base+"/plans/"+url.PathEscape(name), http.StatusSeeOther)
		return nil
	case errors.As(err, new(waiting.Rejection)):
		return refuse("The plan is not as you saw it.", err.Error()+s.whatIsLeft(r, name, form.Get("steps"))+".")
	}
	return refuse("The API server refused the decision.", observe.PlainError(err).Error()+".")
}

func pauseText(p *plan.Pause) string { return p.Block().Reason.Message }

// whatIsLeft says how many of the chosen steps wait still, in the plan or in a newer one with the same pods.
func (s *Server) whatIsLeft(r *http.Request, name, steps string) string {
	m, err := s.source.now(r.Context())
	ranges, failed := waiting.ParseSteps(steps)
	if err != nil || failed != nil {
		return ""
	}
	chosen := func(step int) bool {
		return slices.ContainsFunc(ranges, func(x waiting.Range) bool { return x.First <= step && step <= x.Last })
	}
	pods, of := map[string]bool{}, 0
	if p := m.findPlan(name); p != nil {
		for _, move := range p.Moves {
			if chosen(move.Step) {
				pods[move.Pod.UID], of = true, of+1
			}
		}
	}
	left := 0
	for i := range m.plans.Waiting {
		for _, move := range m.plans.Waiting[i].WaitingMoves() {
			if pods[move.Pod.UID] {
				left++
			}
		}
	}
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of your %s %s still", left, plural.Count(of, "step"), plural.Choose(left, "waits", "wait"))
}
