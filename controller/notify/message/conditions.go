package message

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/plan"
)

// condition is something that lasts over several passes and is announced once.
type condition struct {
	Message
	// subject distinguishes conditions of the same event.
	subject string
}

// key identifies the condition in PlannerState.Announced.
func (c condition) key() string {
	return string(c.Event) + "/" + c.subject
}

// Changes returns a message for each condition that holds after a pass and that is not in
// announced, and for each plan that the pass announced. It also returns the keys of all conditions
// that hold now. A pass may be unable to tell whether a condition still holds; its key then stays.
// st is the state after the pass.
func Changes(announced []string, r plan.RunReport, st plan.PlannerState) (messages []Message, holding []string) {
	conditions, known := conditionsOf(r, st)
	for _, key := range announced {
		if event, _, _ := strings.Cut(key, "/"); !known[Event(event)] {
			holding = append(holding, key)
		}
	}
	for _, c := range conditions {
		holding = append(holding, c.key())
		if !slices.Contains(announced, c.key()) {
			messages = append(messages, c.Message)
		}
	}
	if r.Waiting != nil {
		for _, w := range r.Waiting.Plans {
			if w.Announced {
				messages = append(messages, aboutWaiting(w, r))
			}
		}
	}
	slices.Sort(holding)
	holding = slices.Compact(holding)
	return messages, holding[:min(len(holding), plan.MaxAnnounced)]
}

// conditionsOf returns the conditions that hold after a pass, and the events about which the pass says something. A
// pass that ended before planning, or that executed an approved plan, says little.
func conditionsOf(r plan.RunReport, st plan.PlannerState) (out []condition, known map[Event]bool) {
	known = map[Event]bool{}
	planned := !r.EndedBeforePlanning()
	if r.Mode == plan.Live && planned {
		known[BreakerTripped] = true
		out = append(out, breakerTrip(r, st.Breaker)...)
	}
	if r.Approval != nil {
		return out, known
	}
	if planned {
		known[TrustLost], known[UsageSilent] = true, true
		out = append(append(out, lostTrust(r)...), silentUsage(r)...)
	}
	if planned || len(r.Plan.NothingJudged) > 0 {
		known[NothingJudged] = true
		out = append(out, nothingJudged(r)...)
	}
	return out, known
}

func newCondition(e Event, r plan.RunReport, subject, title, text string) []condition {
	m := about(e, r)
	m.Title, m.Text = clean(title), clean(text)
	return []condition{{m, subject}}
}

func breakerTrip(r plan.RunReport, t *plan.BreakerTrip) []condition {
	if t == nil {
		return nil
	}
	text := ""
	if t.Summary != "" {
		text = t.Summary + ". "
	}
	text += fmt.Sprintf("Evenkeel evicts nothing before %s, and not before the cluster is healthy.", t.Until.UTC().Format(time.RFC3339))
	return newCondition(BreakerTripped, r, t.At.UTC().Format(time.RFC3339), "The breaker tripped", text)
}

// lostTrust returns a condition for each scheduler whose bindings contradict the predictions.
func lostTrust(r plan.RunReport) (out []condition) {
	for _, s := range r.Plan.Schedulers {
		if s.Trusted || !s.Contradicted {
			continue
		}
		name := "a scheduler with an invalid name" // a pod author may have chosen it
		if len(validation.IsDNS1123Subdomain(s.Name)) == 0 {
			name = "scheduler " + s.Name
		}
		text := fmt.Sprintf("Only %d of %d predicted bindings were right, so Evenkeel does not move its pods. "+
			"See placement.trust and placement.profiles.", s.Hits, s.Predicted)
		out = append(out, newCondition(TrustLost, r, name, "Predictions of "+name+" are not trusted", text)...)
	}
	return out
}

// silentUsage returns a condition if strategies or hints lack usage data.
func silentUsage(r plan.RunReport) []condition {
	var names []string
	why := ""
	for _, s := range r.Plan.Strategies {
		if s.NoData != "" {
			names, why = append(names, "strategy "+s.Name), s.NoData
		}
	}
	if r.Plan.HintsNoData != "" {
		names, why = append(names, "hints"), r.Plan.HintsNoData
	}
	if len(names) == 0 {
		return nil
	}
	shown := names[:min(len(names), maxNames)]
	text := fmt.Sprintf("%s. Affected: %s. Evenkeel evicts nothing for them.", why, strings.Join(shown, ", "))
	return newCondition(UsageSilent, r, "", "No usage data", text)
}

// nothingJudged returns a condition if the pass could judge nothing. Other codes are another condition.
func nothingJudged(r plan.RunReport) []condition {
	var codes, causes []string
	for _, cause := range r.Plan.NothingJudged {
		if text := causeTexts[cause.Code]; text != "" {
			codes, causes = append(codes, string(cause.Code)), append(causes, fmt.Sprintf("%s (%s)", text, cause.Code))
		}
	}
	if len(codes) == 0 {
		return nil
	}
	slices.Sort(codes)
	return newCondition(NothingJudged, r, strings.Join(slices.Compact(codes), ","), "The pass could judge nothing",
		"The cause: "+strings.Join(causes, "; ")+". Evenkeel evicts nothing.")
}

// causeTexts describe the codes of Plan.NothingJudged. The messages of the plan are not sent, because they may contain
// addresses and answers of servers.
var causeTexts = map[plan.Code]string{
	plan.NoStrategy:             "the configuration has no strategy",
	plan.NothingInScope:         "the configuration selects no node, no namespace or no pod",
	plan.UntrustedServerVersion: "predictions for this Kubernetes version are not trusted",
	plan.UntrustedScheduler:     "predictions of the scheduler are not trusted",
	plan.NoUsageData:            "strategies have no usage data",
	plan.PermissionMissing:      "the API server denied a request",
	plan.ClusterViewStale:       "the view of the cluster is outdated",
	plan.StateUnavailable:       "the stored state cannot be read",
	plan.APIError:               "the API server gave no usable answer",
}
