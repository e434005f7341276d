package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// minTriggerInterval is the least time between two passes that people trigger.
	minTriggerInterval = time.Minute
	// maxRequestAge is the age from which the leader does not carry out a request: nobody expects its pass then.
	maxRequestAge = 10 * time.Minute
	// maxRequestAgeForJob is the same for a single pass. A request waits for the next job of a CronJob.
	maxRequestAgeForJob = 7 * 24 * time.Hour
	// requestRetention is how long a request is kept after its end.
	requestRetention = time.Hour
	// answersTimeout bounds the requests to the API server of one poll, so that they do not delay passes.
	answersTimeout = 10 * time.Second

	// requestPage bounds the requests in one answer of the API server, and requestPages the answers of one poll.
	// Whoever may create requests may add labels and annotations to each until it has 1.5 MB.
	requestPage, requestPages = 100, 5
	// maxAnswers bounds the requests that one poll rejects, and those that it deletes.
	maxAnswers = 20
	// maxShownStrategies bounds the names in a message.
	maxShownStrategies = 20
	// maxClaim bounds the name of a person in the log, and maxRunMessage the message of a status, in bytes.
	maxClaim, maxRunMessage = 200, 2000
)

const runsResource = "rebalanceruns"

// triggered carries out requests of people for a pass now. All limits, windows and pauses apply to such a pass.
type triggered struct {
	last  time.Time // when the last triggered pass began
	error string    // the last error, so that the log contains it once
	page  string    // where the next poll continues to read; empty means from the beginning
	// unrecorded is the request of the last triggered pass, until the result is stored.
	unrecorded *v1alpha1.RebalanceRun
}

// ExecuteRequested runs the strategies of the oldest request that waits, if there is one. A single pass calls it before
// it plans.
func (c *Controller) ExecuteRequested(ctx context.Context) {
	c.triggered.executeNext(ctx, c, maxRequestAgeForJob, c.RunOnce)
}

// executeNext runs the strategies of the oldest request that waits, if there is one, and stores the result.
func (t *triggered) executeNext(ctx context.Context, c *Controller, maxAge time.Duration,
	pass func(context.Context, []string) (plan.RunReport, error)) {
	if c.Runs == nil || c.Mode != plan.Live {
		return
	}
	r, err := t.take(ctx, c, maxAge)
	text := ""
	if err != nil {
		if text = err.Error(); text != t.error {
			c.Log.Warn("triggers are not carried out", "error", err)
		}
	}
	t.error = text
	if r == nil {
		return
	}
	report, _ := pass(ctx, r.Spec.Strategies) // the report has the error
	ended := metav1.NewTime(c.Clock.Now())
	r.Status.Phase, r.Status.RunID, r.Status.Plan, r.Status.Finished = v1alpha1.RunCompleted, report.RunID, c.published.plan, &ended
	if why := report.Stopped; why != nil {
		r.Status.Message = terminal.Line(fmt.Sprintf("the pass ended early: %s: %s", why.Code, why.Message), maxRunMessage)
	}
	t.unrecorded = r
	if err := t.record(ctx, &c.Dependencies); err != nil {
		c.Log.Warn("the result of a request is not stored yet", "request", r.Name, "error", err)
	}
}

// take takes the oldest request that waits, or returns nil. It rejects requests that are not carried out, and deletes
// old ones. It reads a few pages, so that every poll costs the same; the next poll reads on. A new configuration takes
// precedence: a person may have made the request because of it.
func (t *triggered) take(ctx context.Context, c *Controller, maxAge time.Duration) (*v1alpha1.RebalanceRun, error) {
	d := &c.Dependencies
	if t.unrecorded != nil {
		if err := t.record(ctx, d); err != nil {
			return nil, err // the request would count as one whose process has ended
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answersTimeout)
	defer cancel()
	now := d.Clock.Now()
	l := look{Dependencies: d, strategies: c.Strategies, maxAge: maxAge, last: t.last, now: now}
	for range requestPages {
		list, err := d.Runs.List(ctx, metav1.ListOptions{Limit: requestPage, Continue: t.page})
		if t.page = ""; err != nil {
			var expired apierrors.APIStatus
			if apierrors.IsResourceExpired(err) && errors.As(err, &expired) {
				t.page, err = expired.Status().Continue, nil
			}
			return nil, objects.Explain(err)
		}
		for i := range list.Items {
			l.answer(ctx, &list.Items[i])
		}
		if t.page = list.Continue; t.page == "" {
			break
		}
	}
	if l.oldest == nil || l.failed != nil || len(c.Reloads) > 0 {
		return nil, objects.Explain(l.failed)
	}
	taken, err := claim(ctx, d, l.oldest, now)
	if taken != nil {
		t.last = now
		d.Log.Info("strategies were triggered", "strategies", taken.Spec.Strategies, "claimedBy", terminal.Line(taken.Spec.By, maxClaim),
			"request", taken.Name, "at", taken.CreationTimestamp.UTC())
	}
	return taken, objects.Explain(err)
}

// look is one look at the requests.
type look struct {
	*Dependencies
	strategies        []schedule.Strategy
	maxAge            time.Duration
	last, now         time.Time              // last is the start of the last triggered pass
	oldest            *v1alpha1.RebalanceRun // of those that wait and have no problem
	failed            error                  // the first failed answer
	rejected, deleted int
}

// answer rejects a request that is not carried out, and deletes one whose end is long ago.
func (l *look) answer(ctx context.Context, r *v1alpha1.RebalanceRun) {
	var err error
	switch why := l.problem(r); {
	case r.DeletionTimestamp != nil:
	case r.Status.Phase == v1alpha1.RunCompleted, r.Status.Phase == v1alpha1.RunRejected:
		ended := ptr.Deref(r.Status.Finished, r.CreationTimestamp)
		if l.now.Sub(ended.Time).Abs() > requestRetention && l.deleted < maxAnswers {
			l.deleted++
			err = l.Runs.Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID}})
		}
	case why != "" && l.rejected < maxAnswers:
		if l.rejected++; l.rejected == 1 { // one line for each look, because anybody may make many requests
			l.Log.Warn("a request is rejected", "request", r.Name, "claimedBy", terminal.Line(r.Spec.By, maxClaim), "reason", why)
		}
		ended := metav1.NewTime(l.now)
		r.Status.Phase, r.Status.Message, r.Status.Finished = v1alpha1.RunRejected, terminal.Line(why, maxRunMessage), &ended
		_, err = l.Runs.UpdateStatus(ctx, r, metav1.UpdateOptions{})
	case why == "" && (l.oldest == nil || r.CreationTimestamp.Before(&l.oldest.CreationTimestamp)):
		l.oldest = r
	}
	if l.failed == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		l.failed = err
	}
}

// problem returns the reason why a request is rejected, or "".
func (l *look) problem(r *v1alpha1.RebalanceRun) string {
	var known []string
	for _, s := range l.strategies {
		known = append(known, s.Name)
	}
	unknown := slices.IndexFunc(r.Spec.Strategies, func(name string) bool { return !slices.Contains(known, name) })
	switch wait := l.last.Add(minTriggerInterval).Sub(l.now); {
	case r.Status.Phase == v1alpha1.RunRunning: // this process leads, and runs no pass now
		return fmt.Sprintf("the process that took it (%s) ended before it stored a result; the request is not repeated; trigger again", r.Status.Holder)
	case l.now.Sub(r.CreationTimestamp.Time).Abs() > l.maxAge:
		return fmt.Sprintf("it was made at %s, more than %s before or after now; trigger again, and check the clocks of the API server and of Evenkeel",
			r.CreationTimestamp.UTC().Format(time.RFC3339), l.maxAge)
	case len(r.Spec.Strategies) == 0:
		return "it names no strategy"
	case unknown >= 0:
		return fmt.Sprintf("the configuration has no strategy %q (it has: %s)", r.Spec.Strategies[unknown],
			strings.Join(known[:min(len(known), maxShownStrategies)], ", "))
	case !l.last.IsZero() && wait > 0 && wait <= minTriggerInterval:
		return fmt.Sprintf("the last trigger was less than %s ago; trigger again in %s", minTriggerInterval, wait.Round(time.Second))
	}
	return ""
}

// claim records that this process carries out a request. The result is nil if the request was withdrawn, or if another
// process answered it. If the API server's answer is lost, claim reads the request again.
func claim(ctx context.Context, d *Dependencies, r *v1alpha1.RebalanceRun, now time.Time) (*v1alpha1.RebalanceRun, error) {
	began := metav1.NewTime(now)
	r.Status = v1alpha1.RebalanceRunStatus{Phase: v1alpha1.RunRunning, Holder: d.Holder, Started: &began}
	stored, err := d.Runs.UpdateStatus(ctx, r, metav1.UpdateOptions{})
	switch {
	case err == nil:
		return stored, nil
	case apierrors.IsConflict(err), objects.IsMissing(err, runsResource, r.Name):
		return nil, nil
	}
	stored, readErr := d.Runs.Get(context.WithoutCancel(ctx), r.Name, metav1.GetOptions{})
	if readErr != nil || !runsHere(d, r, stored) {
		return nil, err
	}
	return stored, nil
}

// runsHere reports whether the stored object is still the request r, and this process has taken it.
func runsHere(d *Dependencies, r, stored *v1alpha1.RebalanceRun) bool {
	return stored.UID == r.UID && stored.Status.Phase == v1alpha1.RunRunning && stored.Status.Holder == d.Holder
}

// record stores the result of the last triggered pass, unless the request is gone or another leader answered it. It
// returns an error if another attempt may succeed.
func (t *triggered) record(ctx context.Context, d *Dependencies) error {
	ctx = context.WithoutCancel(ctx) // the pass also ends when the process must stop
	r := t.unrecorded
	stored, err := d.Runs.Get(ctx, r.Name, metav1.GetOptions{})
	if err == nil && runsHere(d, r, stored) {
		stored.Status = r.Status
		_, err = d.Runs.UpdateStatus(ctx, stored, metav1.UpdateOptions{})
	}
	if err != nil && !objects.IsMissing(err, runsResource, r.Name) {
		return objects.Explain(err)
	}
	t.unrecorded = nil
	return nil
}
