// Package message decides which conditions of a pass are announced to people, and how a message looks for each kind of
// receiver. A message names no pod, and repeats no text of another program.
//
// The package never sends a message.
package message

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Event is what a message is about.
type Event string

const (
	PlanWaiting    Event = "planWaiting"
	BreakerTripped Event = "breakerTripped"
	TrustLost      Event = "trustLost"
	UsageSilent    Event = "usageSilent"
	NothingJudged  Event = "nothingJudged"
)

// Events returns every event.
func Events() []Event {
	return []Event{PlanWaiting, BreakerTripped, TrustLost, UsageSilent, NothingJudged}
}

// Message is one announcement. Its size is bounded.
type Message struct {
	Event Event
	At    time.Time
	// RunID identifies the pass whose report contains the details.
	RunID      string
	Mode       plan.Mode
	ClusterUID string // of the namespace kube-system; empty if the cluster could not be read
	Title      string
	Text       string
	Plan       *WaitingPlan // only for PlanWaiting
}

// WaitingPlan summarizes a plan that waits for approval.
type WaitingPlan struct {
	ID string `json:"id"`
	// Strategies are the strategies whose moves wait.
	Strategies []string `json:"strategies"`
	Moves      int      `json:"moves"`
	// Expires is the time after which nobody can approve the plan.
	Expires time.Time `json:"expires"`
	// Command approves the plan.
	Command string `json:"command"`
}

// aboutWaiting returns the message about a plan that waits for approval.
func aboutWaiting(w plan.WaitingPlan, r plan.RunReport) Message {
	names := slices.Sorted(maps.Keys(w.Strategies))
	p := WaitingPlan{ID: clean(w.ID), Strategies: names[:min(len(names), maxNames)], Moves: w.Steps(), Expires: w.Expires.UTC(),
		Command: clean("evenkeel approve " + w.ID)}
	m := about(PlanWaiting, r)
	m.Plan = &p
	m.Title = "A plan waits for approval"
	m.Text = clean(fmt.Sprintf("Plan %s has %s of %s %s. It can be approved until %s. To approve it, run: %s", p.ID,
		plural.Count(p.Moves, "move"), plural.Choose(len(p.Strategies), "strategy", "strategies"),
		strings.Join(p.Strategies, ", "), p.Expires.Format(time.RFC3339), p.Command))
	return m
}

func about(e Event, r plan.RunReport) Message {
	at := r.Finished
	if at.IsZero() { // the pass goes on
		at = r.Started
	}
	return Message{Event: e, At: at.UTC(), RunID: r.RunID, Mode: r.Mode, ClusterUID: clean(r.Plan.Cluster.UID)}
}

const (
	maxTextBytes = 1000 // of a text; Slack and Teams accept more
	maxNames     = 20   // of the strategies that a message names
)

// clean returns a text without characters that cannot be printed, and cuts it off after maxTextBytes.
func clean(s string) string {
	cut := len(s) > maxTextBytes
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s[:min(len(s), maxTextBytes)]) // drops a character that was cut in half, too
	if cut {
		s += "..."
	}
	return s
}
