package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Times of the Lease. A leader that cannot renew stops within RenewDeadline,
// LeaseDuration before anyone else may start; every eviction call must end
// within the difference.
const (
	liveLeaseName   = "evenkeel"
	dryRunLeaseName = "evenkeel-dry-run"
	leaseDuration   = 15 * time.Second
	renewDeadline   = 10 * time.Second
	retryPeriod     = 2 * time.Second
)

// Lease makes sure that one process at a time evicts.
type Lease struct {
	Client    kubernetes.Interface
	Namespace string
	// DryRun takes the Lease of those who evict nothing: they are in nobody's way.
	DryRun bool
	// Identity tells this process from the others.
	Identity string
	// OnLeadingChange is told when leadership is gained and lost.
	OnLeadingChange func(bool)

	// Clock is the real one where it is nil.
	Clock clock.PassiveClock

	lastRenewal   atomic.Pointer[time.Time]     // when the last renewal that succeeded began
	accessFailure atomic.Pointer[accessFailure] // what was missing at the last try; nil: nothing
}

// CheckLeading says why this process may not act as leader now; nil when it may. It goes
// by the clock: a process that was suspended may be told late that it lost the
// Lease.
func (l *Lease) CheckLeading() *plan.Reason {
	now := l.clock().Now()
	switch at := l.lastRenewal.Load(); {
	case at == nil:
		return &plan.Reason{Code: plan.NotLeading, Message: fmt.Sprintf("this process does not hold the Lease %s/%s", l.Namespace, l.leaseName())}
	case now.Sub(*at) > renewDeadline, now.Round(0).Sub(at.Round(0)).Abs() > renewDeadline: // by either of the machine's clocks
		return &plan.Reason{Code: plan.NotLeading, Message: fmt.Sprintf("the Lease %s/%s was last renewed more than %s ago", l.Namespace, l.leaseName(), renewDeadline)}
	}
	return nil
}

// Leader is who holds the Lease now; "" when nobody does.
func (l *Lease) Leader(ctx context.Context) (string, error) {
	lease, err := l.Client.CoordinationV1().Leases(l.Namespace).Get(ctx, l.leaseName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the Lease %s/%s: %w", l.Namespace, l.leaseName(), cmp.Or(l.accessError("get", err), err))
	}
	return l.HolderOf(lease), nil
}

// HolderOf is who holds a Lease that was just read; "" when it was released, or not
// renewed in time.
func (l *Lease) HolderOf(lease *coordinationv1.Lease) string {
	s := lease.Spec
	if s.HolderIdentity == nil || s.RenewTime == nil || s.LeaseDurationSeconds == nil ||
		l.clock().Since(s.RenewTime.Time) > time.Duration(*s.LeaseDurationSeconds)*time.Second {
		return ""
	}
	return *s.HolderIdentity
}

func (l *Lease) leaseName() string {
	if l.DryRun {
		return dryRunLeaseName
	}
	return liveLeaseName
}

func (l *Lease) clock() clock.PassiveClock {
	if l.Clock == nil {
		return clock.RealClock{}
	}
	return l.Clock
}

// accessError puts what no further try helps against into words that say what to do: a
// permission or the namespace is missing. nil: it is nothing of that kind.
func (l *Lease) accessError(verb string, err error) error {
	status := apierrors.APIStatus(nil)
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission to %s leases.coordination.k8s.io is missing in namespace %s; grant it to this account: %w", verb, l.Namespace, err)
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces":
		return fmt.Errorf("there is no namespace %s; create it, or give the one that Evenkeel runs in (--lease-namespace): %w", l.Namespace, err)
	}
	return nil
}

// accessFailure is a permission or a namespace that is missing, since the first of the tries
// in a row.
type accessFailure struct {
	since time.Time
	err   error
}

// observedLock notes when the Lease was last written, and what was forbidden.
type observedLock struct {
	resourcelock.Interface
	lease *Lease
	// accessDenied is told of a permission or a namespace that has been missing for patience.
	accessDenied chan error
	accessGrace  time.Duration
}

// Get implements resourcelock.Interface.
func (n observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := n.Interface.Get(ctx)
	n.recordAccess("get", err)
	return r, raw, err
}

// recordAccess takes note of a permission or a namespace that is missing, or that it is not.
func (n observedLock) recordAccess(verb string, err error) {
	why := n.lease.accessError(verb, err)
	if why == nil {
		if err == nil {
			n.lease.accessFailure.Store(nil)
		}
		return
	}
	r := accessFailure{n.lease.clock().Now(), why}
	if was := n.lease.accessFailure.Load(); was != nil {
		r.since = was.since
	}
	n.lease.accessFailure.Store(&r)
	if n.lease.clock().Since(r.since) < n.accessGrace {
		return
	}
	select {
	case n.accessDenied <- r.err:
	default: // one is enough
	}
}

// Create implements resourcelock.Interface.
func (n observedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return n.recordWrite("create", r, func() error { return n.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface.
func (n observedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return n.recordWrite("update", r, func() error { return n.Interface.Update(ctx, r) })
}

func (n observedLock) recordWrite(verb string, r resourcelock.LeaderElectionRecord, write func() error) error {
	began := n.lease.clock().Now()
	err := write()
	n.recordAccess(verb, err)
	switch {
	case err != nil:
	case r.HolderIdentity == n.lease.Identity:
		n.lease.lastRenewal.Store(&began)
	default: // released
		n.lease.lastRenewal.Store(nil)
	}
	return err
}

// Lead waits for the Lease, runs work while it holds, and releases it only
// after work has returned. It returns work's error; or one that names the holder
// when the Lease was not to be had within wait (0: waits until ctx ends); or one that
// names the permission or the namespace that is missing: at once, but where it waits without end, only
// when it has been missing for as long as a leader would go on without it, since roles
// that are being replaced are missing for a moment.
func (l *Lease) Lead(ctx context.Context, wait time.Duration, work func(ctx context.Context) error) error {
	patience := time.Duration(0)
	if wait == 0 {
		patience = renewDeadline
	}
	l.accessFailure.Store(nil)
	lock := observedLock{&resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.leaseName()},
		Client:     l.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
	}, l, make(chan error, 1), patience}
	// The elector ends by its own context, which outlives work: work is stopped
	// first, then the Lease is released.
	elect, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	started := make(chan context.Context, 1)
	lost := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true, Name: l.leaseName(),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(c context.Context) { started <- c },
			OnStoppedLeading: func() { close(lost) },
		},
	})
	if err != nil {
		return fmt.Errorf("setting up leader election: %w", err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); elector.Run(elect) }()
	defer func() { release(); <-ended }()

	var timeout <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-started:
	case <-ctx.Done():
		return nil
	case err := <-lock.accessDenied:
		return fmt.Errorf("taking the Lease %s/%s: %w", l.Namespace, l.leaseName(), err)
	case <-timeout:
		return l.timeoutError(ctx, lock, elector.GetLeader(), wait)
	}
	l.OnLeadingChange(true)
	defer l.OnLeadingChange(false)
	return l.runWhileLeading(ctx, lost, work)
}

func (l *Lease) runWhileLeading(ctx context.Context, lost <-chan struct{}, work func(ctx context.Context) error) error {
	leading, stop := context.WithCancel(ctx)
	defer stop()
	var gone atomic.Bool
	go func() {
		select {
		case <-lost:
			gone.Store(true)
			stop()
		case <-leading.Done():
		}
	}()
	err := work(leading)
	if gone.Load() && ctx.Err() == nil {
		lost := fmt.Errorf("lost the Lease %s/%s", l.Namespace, l.leaseName())
		if why := l.accessFailure.Load(); why != nil {
			lost = fmt.Errorf("%w: %w", lost, why.err)
		}
		return errors.Join(err, lost)
	}
	return err
}

// lastGetTimeout bounds the last look at a Lease that could not be taken.
const lastGetTimeout = 2 * time.Second

func (l *Lease) timeoutError(ctx context.Context, lock resourcelock.Interface, holder string, wait time.Duration) error {
	if holder == "" {
		ctx, cancel := context.WithTimeout(ctx, lastGetTimeout)
		defer cancel()
		if _, _, err := lock.Get(ctx); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("could not take the Lease %s/%s within %s: reading it: %w", l.Namespace, l.leaseName(), wait, err)
		}
		return fmt.Errorf("could not take the Lease %s/%s within %s: it has no holder, so writing it failed; check the permission to create and update leases there", l.Namespace, l.leaseName(), wait)
	}
	return fmt.Errorf("the Lease %s/%s is held by %s and did not come free within %s", l.Namespace, l.leaseName(), holder, wait)
}
