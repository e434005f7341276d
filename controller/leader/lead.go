package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lead waits for the Lease, runs work while this process holds it, and releases it after work has
// returned. Lead returns the error of work. If wait is 0, Lead waits until ctx ends or StopWaiting
// delivers a value. Otherwise, if the Lease is not free within wait, Lead returns an error that names
// the holder.
//
// If a permission or the namespace is missing, Lead returns an error that names it. With a positive
// wait, Lead returns the error at once. Otherwise it returns the error after renewDeadline, because
// a Role is briefly missing while it is replaced.
func (l *Lease) Lead(ctx context.Context, wait time.Duration, work func(ctx context.Context) error) error {
	// The context of the elector ends only after work has returned, so that the Lease is released last.
	elect, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	started := make(chan context.Context, 1)
	lost := make(chan struct{})
	lock := l.newLock(wait)
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
	l.elector.Store(elector)
	defer l.elector.Store(nil)
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
	case <-l.StopWaiting:
		return nil
	case err := <-lock.accessDenied:
		return fmt.Errorf("taking the Lease %s/%s: %w", l.Namespace, l.leaseName(), err)
	case <-timeout:
		return l.timeoutError(ctx, lock, elector.GetLeader(), wait)
	}
	l.OnLeadingChange(true)
	stopped := sync.OnceFunc(func() { l.OnLeadingChange(false) })
	defer stopped()
	return l.runWhileLeading(ctx, lost, stopped, work)
}

func (l *Lease) newLock(wait time.Duration) observedLock {
	grace := time.Duration(0)
	if wait == 0 {
		grace = renewDeadline
	}
	l.accessFailure.Store(nil)
	return observedLock{
		LeaseLock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.leaseName()},
			Client:     l.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
		},
		lease: l, accessDenied: make(chan error, 1), accessGrace: grace, announced: new(atomic.Bool),
	}
}

// runWhileLeading runs work. When the Lease is lost, it cancels the context of work and calls onLoss. If the Lease is
// lost and ctx has not ended, the error says that the Lease was lost.
func (l *Lease) runWhileLeading(ctx context.Context, lost <-chan struct{}, onLoss func(), work func(ctx context.Context) error) error {
	leading, stop := context.WithCancel(ctx)
	defer stop()
	var gone atomic.Bool
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-lost:
			now := l.clock().Now()
			l.lostAt.Store(&now)
			gone.Store(true)
			stop()
			onLoss()
		case <-leading.Done():
		}
	}()
	err := work(leading)
	stop()
	<-watched
	l.lostAt.Store(nil)
	if gone.Load() && ctx.Err() == nil {
		lost := fmt.Errorf("lost the Lease %s/%s", l.Namespace, l.leaseName())
		if failure := l.accessFailure.Load(); failure != nil {
			lost = fmt.Errorf("%w: %w", lost, failure.err)
		}
		return errors.Join(err, lost)
	}
	return err
}

const lastGetTimeout = 2 * time.Second

func (l *Lease) timeoutError(ctx context.Context, lock resourcelock.Interface, holder string, wait time.Duration) error {
	if holder != "" {
		return fmt.Errorf("the Lease %s/%s is held by %s and did not become free within %s", l.Namespace, l.leaseName(), holder, wait)
	}
	ctx, cancel := context.WithTimeout(ctx, lastGetTimeout)
	defer cancel()
	if _, _, err := lock.Get(ctx); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("could not take the Lease %s/%s within %s: reading it: %w", l.Namespace, l.leaseName(), wait, err)
	}
	return fmt.Errorf("could not take the Lease %s/%s within %s: no process holds it, but it could not be written; "+
		"check the permission to create and update leases in that namespace", l.Namespace, l.leaseName(), wait)
}

// observedLock is the lock of the elector. observedLock records the last renewal and missing access in its lease field.
type observedLock struct {
	*resourcelock.LeaseLock
	lease *Lease
	// accessDenied receives the error once access has been missing for accessGrace.
	accessDenied chan error
	accessGrace  time.Duration
	announced    *atomic.Bool // OnWaiting was called
}

// Get implements resourcelock.Interface.
func (o observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, raw, err := o.LeaseLock.Get(call)
	o.recordAccess("get", err)
	if err == nil && r.HolderIdentity != "" && r.HolderIdentity != o.lease.Identity && o.lease.OnWaiting != nil && !o.announced.Swap(true) {
		o.lease.OnWaiting(r.HolderIdentity)
	}
	return r, raw, err
}

// Create implements resourcelock.Interface.
func (o observedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return o.recordWrite(ctx, "create", r, func(call context.Context) error { return o.LeaseLock.Create(call, r) })
}

// Update implements resourcelock.Interface.
func (o observedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return o.recordWrite(ctx, "update", r, func(call context.Context) error { return o.LeaseLock.Update(call, r) })
}

func (o observedLock) recordWrite(ctx context.Context, verb string, r resourcelock.LeaderElectionRecord,
	write func(context.Context) error) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := o.lease.clock().Now()
	o.Labels = o.lease.labels()
	err := write(call)
	o.recordAccess(verb, err)
	switch {
	case err != nil:
	case r.HolderIdentity == o.lease.Identity:
		o.lease.lastRenewal.Store(&began)
	default: // the Lease was released
		o.lease.lastRenewal.Store(nil)
	}
	return err
}

// recordAccess records whether a permission or the namespace was missing. Other errors change nothing.
func (o observedLock) recordAccess(verb string, err error) {
	why := o.lease.accessError(verb, err)
	if why == nil {
		if err == nil {
			o.lease.accessFailure.Store(nil)
		}
		return
	}
	f := accessFailure{o.lease.clock().Now(), why}
	if earlier := o.lease.accessFailure.Load(); earlier != nil {
		f.since = earlier.since
	}
	o.lease.accessFailure.Store(&f)
	if o.lease.clock().Since(f.since) < o.accessGrace {
		return
	}
	select {
	case o.accessDenied <- f.err:
	default: // one error is enough
	}
}
