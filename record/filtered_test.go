package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// TestAPartOfAPlanIsNoPlan checks the document for a part of a plan: no cluster stores it, it has expired, whoever
// changes its kind, and it says what is left out.
func TestAPartOfAPlanIsNoPlan(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	move := func(step int, namespace string) plan.Move {
		return plan.Move{Step: step, Wave: step, Pod: plan.PodRef{Namespace: namespace, Name: "p", UID: namespace}, From: "n1", To: "n2", Strategy: "zones"}
	}
	p := plan.Plan{ID: "x", TakenAt: at, Expires: at.Add(time.Hour), Moves: []plan.Move{move(1, "shop"), move(2, "pay")}}
	f := plan.Filter{Namespaces: []string{"pay"}}
	for namespace, moves := range map[string]int{"pay": 1, "none": 0} {
		f.Namespaces = []string{namespace}
		part := f.Select(p)
		objects := record.PlanObjects(&part)
		o := objects[0]
		if s := &o.Spec; len(objects) != 1 || o.Kind != record.FilteredKind || !s.Expires.Equal(&s.TakenAt) || s.MoveCount != 2 || len(s.Moves) != moves ||
			s.Omitted == nil || int(s.Omitted.Moves) != 2-moves || !strings.HasPrefix(s.Notices[0].Message, "Filtered: shows only namespace "+namespace) {
			t.Errorf("%s: %+v", namespace, o)
		}
	}
	stored := record.PlanObjects(&p)[0]
	o := record.Part(&stored, &f)
	if s := &o.Spec; o.Kind != record.FilteredKind || !s.Expires.Equal(&s.TakenAt) || s.MoveCount != 2 || len(s.Moves)+int(s.Omitted.Moves) != 2 ||
		s.Notices[0].Reason.Code != "Filtered" || len(stored.Spec.Moves) != 2 {
		t.Errorf("a part of a stored plan: %+v", o)
	}
	if o := record.PlanObjects(&p)[0]; o.Kind != "RebalancePlan" || !o.Spec.Expires.Time.Equal(p.Expires) {
		t.Errorf("the whole plan: %+v", o)
	}
	if bytes.Contains(evenkeel.CustomResourceDefinitions(), []byte(record.FilteredKind)) {
		t.Errorf("the API has the kind %s", record.FilteredKind)
	}
}
