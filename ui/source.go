package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
)

const (
	// maxAge is the age up to which what was read is shown again, unless a watch reports a change.
	maxAge = 10 * time.Second
	// readAllTimeout bounds the reading of everything that a page shows.
	readAllTimeout = 10 * time.Second
	// watchAgain is the time until a watch that ended begins again.
	watchAgain = 5 * time.Second
	// maxRunning bounds the plans that are looked at for one that is executed.
	maxRunning = 10
)

// moment is what the API server said at one time.
type moment struct {
	at time.Time
	// client is nil without a release.
	client  *objects.Client
	release *v1alpha1.Rebalancer
	// noKinds reports that the API server does not know the objects of evenkeel.io.
	noKinds bool
	lease   *release.Release // nil if it is unknown
	plans   waiting.Plans
	running *v1alpha1.RebalancePlan
	last    *v1alpha1.RebalancePlan // of the last pass; nil if it is unknown or stored no plan
	hours   []v1alpha1.Hour
	passes  []*pass // the newest first
	// gap says why passes are not known, or not all.
	gap     string
	missing []missing
	version string
}

// missing is what a page cannot show, and the right that would show it.
type missing struct{ What, Right string }

// scoreOverTime is what a page lacks without the history.
const scoreOverTime = "The score over time"

// namespace returns the namespace of the release, or "".
func (m *moment) namespace() string {
	if m.client == nil {
		return ""
	}
	return m.client.Namespace
}

// status returns the status of the release, which is empty if it is unknown.
func (m *moment) status() *v1alpha1.RebalancerStatus {
	if m.release == nil {
		return &v1alpha1.RebalancerStatus{}
	}
	return &m.release.Status
}

// lacks notes a failure that a missing right or a missing object explains. It returns other errors.
func (m *moment) lacks(what string, r right, err error) error {
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		m.missing = append(m.missing, missing{what, r.String()})
	case objects.IsKindMissing(err):
		m.noKinds = true
	case apierrors.IsNotFound(err):
	default:
		return err
	}
	return nil
}

// source reads what the pages show, once for all pages. It is safe for concurrent use.
type source struct {
	options *Options
	rights  *rights
	changed atomic.Bool // something may have changed since the last reading

	mu      sync.Mutex
	client  *objects.Client
	store   *waiting.Store
	archive archive
	last    *moment
	tried   time.Time
	failure error // of the last reading, or nil
	person  string
}

// now returns what the API server said, at most maxAge ago. If it does not answer, now returns what it said last, and
// the error. The moment is nil if it never answered.
func (s *source) now(ctx context.Context) (*moment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Clock.Now()
	if !s.changed.Load() && !s.tried.IsZero() && now.Sub(s.tried) < maxAge {
		return s.last, s.failure
	}
	s.changed.Store(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readAllTimeout)
	defer cancel()
	m, err := s.read(ctx, now)
	if s.tried, s.failure = now, err; err == nil {
		s.last = m
	}
	return s.last, err
}

func (s *source) read(ctx context.Context, now time.Time) (*moment, error) {
	m := &moment{at: now}
	if s.client == nil {
		client, err := s.options.Release(ctx)
		if err != nil {
			return nil, err
		}
		if s.client = client; client != nil {
			s.store, s.archive = waiting.New(client), archive{}
		}
	}
	if m.client = s.client; m.client == nil {
		m.version = "none"
		return m, nil
	}
	for _, read := range []func(context.Context, *moment) error{s.readRelease, s.readLease, s.readPlans, s.readRunning, s.readHistory, s.readPasses} {
		if err := read(ctx, m); err != nil {
			return nil, err
		}
	}
	m.version = m.fingerprint()
	return m, nil
}

func (s *source) readRelease(ctx context.Context, m *moment) error {
	o, err := m.client.Rebalancers.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
	if err == nil {
		m.release = o
	}
	return m.lacks("What passes did, whether evictions are paused, and what comes next", ofEvenkeel("get", "rebalancers", m.client.Namespace), err)
}

func (s *source) readLease(ctx context.Context, m *moment) error {
	found, err := release.In(ctx, s.options.Client, m.client.Namespace, m.at)
	if errors.As(err, new(release.NoLeaseError)) {
		err = nil
	}
	if err == nil {
		m.lease = &found
	}
	return m.lacks("Which process leads", right{"get", "coordination.k8s.io", "leases", m.client.Namespace}, err)
}

func (s *source) readPlans(ctx context.Context, m *moment) (err error) {
	m.plans, err = s.store.Load(ctx, nil)
	m.plans = m.plans.Register(m.at)
	return m.lacks("Which plans wait, run and ended", ofEvenkeel("list", "rebalanceplans", m.client.Namespace), err)
}

// readRunning finds the plan that the process that leads executes. A process that died leaves such a plan.
func (s *source) readRunning(ctx context.Context, m *moment) error {
	all, err := m.client.Plans.List(ctx, metav1.ListOptions{Limit: maxRunning,
		FieldSelector: fields.OneTermEqualSelector("status.phase", string(v1alpha1.PhaseRunning)).String()})
	if err != nil {
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) { // readPlans has said so
			return nil
		}
		return err
	}
	for i := range all.Items {
		if o := &all.Items[i]; o.Status.Phase == v1alpha1.PhaseRunning && (m.lease == nil || o.Status.Holder == m.lease.Holder) {
			m.running = o
		}
	}
	return nil
}

func (s *source) readHistory(ctx context.Context, m *moment) error {
	o, err := m.client.Histories.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
	if err == nil {
		m.hours = o.Hours
	}
	return m.lacks(scoreOverTime, ofEvenkeel("get", "rebalancehistories", m.client.Namespace), err)
}

func (s *source) readPasses(ctx context.Context, m *moment) (err error) {
	m.passes, err = s.archive.update(ctx, m.client)
	switch why := cmp.Or(err, s.archive.why); {
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err): // readPlans has said so
		m.gap = "You may not see the history."
		return nil
	case err != nil:
		return err
	case apierrors.IsForbidden(why):
		m.gap = "You may not see the whole history."
		_ = m.lacks("What passes did to which pods", ofEvenkeel("get", "rebalanceplans", m.client.Namespace), why)
	case why != nil:
		m.gap = plural.Count(s.archive.unread, "stored plan") + " could not be read: " + observe.PlainError(why).Error() + "."
	case s.archive.cut:
		m.gap = fmt.Sprintf("Not all stored plans are known: there are more than %d.", maxNames)
	}
	if p := m.status().LastPass; p != nil && p.Plan != "" {
		if s.last != nil && s.last.last != nil && s.last.last.Name == p.Plan && s.last.last.Status.Finished != nil {
			m.last = s.last.last
		} else if o, err := m.client.Plans.Get(ctx, p.Plan, metav1.GetOptions{}); err == nil {
			m.last = o
		}
	}
	return nil
}

// fingerprint changes when something that a page shows has changed.
func (m *moment) fingerprint() string {
	parts := []string{m.gap}
	if m.release != nil {
		parts = append(parts, m.release.ResourceVersion)
	}
	if m.lease != nil {
		parts = append(parts, m.lease.Holder, m.lease.DryRunHolder)
	}
	for _, list := range [][]waiting.Plan{m.plans.Waiting, m.plans.Marked} {
		for i := range list {
			parts = append(parts, list[i].Object().ResourceVersion)
		}
	}
	if m.running != nil {
		parts = append(parts, m.running.ResourceVersion)
	}
	for _, p := range m.passes {
		parts = append(parts, p.version)
	}
	return fmt.Sprintf("%x", hash(strings.Join(parts, " ")))
}

// watch notes that something has changed as soon as the API server says so, until ctx ends. Without the right to watch,
// the pages ask every maxAge.
func (s *source) watch(ctx context.Context) {
	var wg sync.WaitGroup
	for _, resource := range []string{"rebalanceplans", "rebalancers"} {
		wg.Go(func() {
			for ctx.Err() == nil {
				s.watchOnce(ctx, resource)
				wait.Sleep(ctx, clock.RealClock{}, watchAgain)
			}
		})
	}
	wg.Wait()
}

// watchOnce watches until the watch ends. It does nothing without a release or without the right.
func (s *source) watchOnce(ctx context.Context, resource string) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil || !s.rights.may(ctx, ofEvenkeel("watch", resource, client.Namespace)) {
		return
	}
	w, err := client.Watch(ctx, resource)
	if err != nil {
		return
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-w.ResultChan():
			s.changed.Store(true)
			if !open {
				return
			}
		}
	}
}

// findPlan returns a plan that is open, or nil.
func (m *moment) findPlan(name string) *waiting.Plan {
	for _, list := range [][]waiting.Plan{m.plans.Waiting, m.plans.Marked} {
		if i := slices.IndexFunc(list, func(w waiting.Plan) bool { return w.Name == name }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}
