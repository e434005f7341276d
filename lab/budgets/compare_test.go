package budgets

import (
	"context"
	"fmt"
)

// compareEvictions evicts the case's pods in random order. If Evenkeel refuses an eviction, the server first gets a dry
// run, which changes nothing. A second round then evicts the refused pods anyway, as another client might do.
func (c *testCase) compareEvictions(ctx context.Context, b *batch, into *comparisonCounts) error {
	if err := c.checkCount(b, into); err != nil {
		return err
	}
	t := &caseComparison{testCase: c, batch: b, into: into, returns: map[string]int{}}
	var later []podPlan
	for _, i := range c.order {
		a, err := t.attemptEviction(ctx, c.pods[i], false)
		if err != nil {
			return fmt.Errorf("case %d: %w", c.index, err)
		}
		if a.dryRun {
			later = append(later, c.pods[i])
		}
	}
	for _, p := range later {
		if _, err := t.attemptEviction(ctx, p, true); err != nil {
			return fmt.Errorf("case %d, second round: %w", c.index, err)
		}
	}
	into.countCase(c)
	return nil
}

// attemptEviction asks Evenkeel, then the server, and records how the answers compare.
func (t *caseComparison) attemptEviction(ctx context.Context, p podPlan, really bool) (evictionAttempt, error) {
	key := t.namespace + "/" + p.name
	a := evictionAttempt{pod: p}
	var err error
	if a.ours, err = budgetcheck.request(request{Op: "ask", Tracker: t.batch.name, Taken: t.label(), Pod: key}); err != nil {
		return a, err
	}
	a.dryRun = !a.ours.Allowed && !really
	if a.server, err = sendEviction(ctx, t.batch.pods[key], a.dryRun); err != nil {
		return a, err
	}
	t.recordAnswers(a)
	if a.server.allowed && !a.dryRun {
		if a.charged, err = t.chargeEviction(key); err != nil {
			return a, err
		}
	}
	t.history = append(t.history, a)
	if a.charged && !t.losesHealthyPod(p) {
		t.returns[t.budgetOf(p).Name]++
	}
	if t.settle && a.server.allowed && !a.dryRun {
		if err := t.waitUntilSettled(ctx); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (t *caseComparison) chargeEviction(key string) (charged bool, err error) {
	a, err := budgetcheck.request(request{Op: "take", Tracker: t.batch.name, Taken: t.label(), Pod: key})
	charged = a.Taken > t.taken
	t.taken = a.Taken
	return charged, err
}

func (t *caseComparison) recordAnswers(a evictionAttempt) {
	switch {
	case a.ours.Allowed == a.server.allowed:
		t.into.countAgreement(a)
	case a.ours.Allowed && t.scaledUnseen(a):
		t.into.countScaledUnseen()
	case a.ours.Allowed:
		t.into.addWronglyAllowed(t.describe(a))
	default:
		why := t.documentedCase(a)
		if why == "" {
			t.into.addUnexplained(t.describe(a))
			return
		}
		t.into.countDocumented(why)
	}
}
