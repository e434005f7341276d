package message_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// passReport returns the report of a live pass that judged pods.
func passReport() plan.RunReport {
	return plan.RunReport{RunID: "5d3f0a1c", Mode: plan.Live, Finished: noon, Plan: plan.Plan{
		Cluster: plan.ClusterInfo{UID: "0b2f6a52-7b1e-4c57-9f0e-6f6f2a3a9c11"}}}
}

var trip = &plan.BreakerTrip{At: noon, Until: noon.Add(10 * time.Minute),
	Summary: "3 of 10 evictions failed, more than 20% (evictor.breaker.maxFailedFrac)",
	Reason:  plan.Reason{Code: plan.BreakerOpen, Message: "3 of 10 evictions failed; the last failure: webhook https://intern/?key=s3cret"}}

// examplesOf returns one message of each event.
func examplesOf(t *testing.T) map[message.Event]message.Message {
	t.Helper()
	r := passReport()
	r.Plan.Schedulers = []plan.SchedulerState{{Name: "default-scheduler", Predicted: 50, Hits: 30, Contradicted: true},
		{Name: "young", Predicted: 3, Hits: 3}, {Name: "good", Predicted: 50, Hits: 50, Trusted: true}}
	r.Plan.Strategies = []plan.StrategyState{{Name: "zones"}, {Name: "hot", NoData: "no usage data: metricsServer gave no answer"}}
	r.Plan.NothingJudged = []plan.Reason{{Code: plan.APIError, Message: "Get https://10.0.0.1/api?token=s3cret: EOF"}}
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: "9f2c41d7e0ab", Strategies: map[string]int{"zones": 2, "hot": 1},
		Expires: noon.Add(24 * time.Hour), Announced: true}}}
	messages, _ := message.Changes(nil, r, plan.PlannerState{Breaker: trip})
	out := map[message.Event]message.Message{}
	for _, m := range messages {
		if _, twice := out[m.Event]; twice {
			t.Errorf("two messages about %s", m.Event)
		}
		out[m.Event] = m
	}
	return out
}

// TestThePageShowsEveryMessage compares docs/reference/notifications.md with the bodies that receivers get.
func TestThePageShowsEveryMessage(t *testing.T) {
	const path = "../../../docs/reference/notifications.md"
	page := must.Get(os.ReadFile(path))(t)
	examples := examplesOf(t)
	rows := [][]string{{"event", "title", "text, for example"}}
	for _, e := range message.Events() {
		m, ok := examples[e]
		if !ok {
			t.Errorf("no example of %s", e)
		}
		rows = append(rows, []string{"`" + string(e) + "`", m.Title, m.Text})
	}
	golden.Table(t, path, rows)
	for _, f := range message.Formats() {
		if body := "```json\n" + string(examples[message.PlanWaiting].Body(f)) + "```\n"; !strings.Contains(string(page), body) {
			t.Errorf("the page lacks the body of format %s:\n%s", f, body)
		}
	}
}

// TestMessagesContainNoForeignText checks that messages repeat no text of servers.
func TestMessagesContainNoForeignText(t *testing.T) {
	for _, m := range examplesOf(t) {
		for _, f := range message.Formats() {
			if body := string(m.Body(f)); strings.Contains(body, "s3cret") || strings.Contains(body, "10.0.0.1") {
				t.Errorf("%s in format %s: %s", m.Event, f, body)
			}
		}
	}
}

// TestAHostileSchedulerNameIsNotSent checks that the author of a pod cannot mention people or send links.
func TestAHostileSchedulerNameIsNotSent(t *testing.T) {
	for _, name := range []string{"<!channel>", "<https://evil.example|click>", "[x](https://evil.example)", "a\nb", strings.Repeat("a", 9000)} {
		r := passReport()
		r.Plan.Schedulers = []plan.SchedulerState{{Name: name, Predicted: 50, Contradicted: true}}
		messages, keys := message.Changes(nil, r, plan.PlannerState{})
		if len(messages) != 1 || len(keys) != 1 || len(keys[0]) > 300 || strings.Contains(messages[0].Title+messages[0].Text+keys[0], name) {
			t.Errorf("%.40q: %+v, %q", name, messages, keys)
		}
	}
	m := message.Message{Title: "<!channel> & <https://evil.example|click>"}
	if body := string(m.Body(message.Slack)); strings.ContainsAny(body, "<>") || !strings.Contains(body, "&lt;!channel&gt; &amp; ") {
		t.Errorf("Slack would interpret %s", body)
	}
}

// TestMessagesAreBounded checks the size of messages with long names and many strategies.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("\u00fc\x1b", 100_000)
	r := passReport()
	r.Plan.HintsNoData, r.Plan.Cluster.UID = long, long
	strategies := map[string]int{}
	for i := range 10_000 {
		strategies[fmt.Sprint("zones", i)] = 1
	}
	r.Waiting = &plan.Waiting{Plans: []plan.WaitingPlan{{ID: long, Strategies: strategies, Announced: true}}}
	messages, _ := message.Changes(nil, r, plan.PlannerState{Breaker: &plan.BreakerTrip{Summary: long}})
	for _, m := range messages {
		for _, f := range message.Formats() {
			if body := m.Body(f); len(body) > 10_000 || strings.Contains(string(body), "u001b") {
				t.Errorf("%s in format %s has %d bytes: %.200s", m.Event, f, len(body), body)
			}
		}
	}
}

func TestEveryCauseHasAText(t *testing.T) {
	for _, code := range plan.NothingJudgedCodes() {
		r := passReport()
		r.Plan.NothingJudged = []plan.Reason{{Code: code}}
		if messages, _ := message.Changes(nil, r, plan.PlannerState{}); len(messages) != 1 {
			t.Errorf("%s is not announced", code)
		}
	}
}

// TestConditionsAreAnnouncedOnce follows conditions over several passes. A pass that cannot tell
// whether a condition still holds changes nothing.
func TestConditionsAreAnnouncedOnce(t *testing.T) {
	live, silent, unjudged, interrupted := passReport(), passReport(), passReport(), passReport()
	silent.Plan.Strategies = []plan.StrategyState{{Name: "hot", NoData: "no usage data"}}
	unjudged.Plan.NothingJudged = []plan.Reason{{Code: plan.APIError}}
	unjudged.Stopped = &plan.Reason{Code: plan.APIError}
	interrupted.Stopped = &plan.Reason{Code: plan.Interrupted}
	otherCause, approved, dry := unjudged, silent, passReport()
	otherCause.Plan.NothingJudged = []plan.Reason{{Code: plan.ClusterViewStale}}
	approved.Approval, dry.Mode = &plan.Approval{By: "alice"}, plan.DryRun
	again := &plan.BreakerTrip{At: noon.Add(time.Hour)}
	var announced []string
	for i, step := range []struct {
		what    string
		report  plan.RunReport
		breaker *plan.BreakerTrip
		want    []message.Event
	}{
		{"nothing", live, nil, nil},
		{"a silent source", silent, nil, []message.Event{message.UsageSilent}},
		{"still silent", silent, nil, nil},
		{"no snapshot", unjudged, nil, []message.Event{message.NothingJudged}},
		{"another cause", otherCause, nil, []message.Event{message.NothingJudged}},
		{"interrupted", interrupted, nil, nil},
		{"an approved plan says nothing about strategies", approved, nil, nil},
		{"silent as before, but judged", silent, nil, nil},
		{"the source answers", live, nil, nil},
		{"silent once more", silent, nil, []message.Event{message.UsageSilent}},
		{"the breaker trips", silent, trip, []message.Event{message.BreakerTripped}},
		{"the breaker stays open", silent, trip, nil},
		{"interrupted while it is open", interrupted, trip, nil},
		{"another trip", silent, again, []message.Event{message.BreakerTripped}},
		{"a dry run does not announce it", dry, trip, nil},
	} {
		messages, holding := message.Changes(announced, step.report, plan.PlannerState{Breaker: step.breaker})
		var got []message.Event
		for _, m := range messages {
			got = append(got, m.Event)
		}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("step %d, %s: %s", i, step.what, d)
		}
		announced = holding
	}
	if len(announced) != 1 {
		t.Errorf("after a pass without conditions, %q still hold; want the breaker only, of which a dry run says nothing", announced)
	}
}
