package leader

import (
	"context"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// observedLock is the lock of the elector. observedLock records the last renewal and missing access
// in its lease field.
type observedLock struct {
	resourcelock.Interface
	lease *Lease
	// accessDenied receives the error once access has been missing for accessGrace.
	accessDenied chan error
	accessGrace  time.Duration
}

// Get implements resourcelock.Interface.
func (o observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := o.Interface.Get(ctx)
	o.recordAccess("get", err)
	return r, raw, err
}

// Create implements resourcelock.Interface.
func (o observedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return o.recordWrite("create", r, func() error { return o.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface.
func (o observedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return o.recordWrite("update", r, func() error { return o.Interface.Update(ctx, r) })
}

func (o observedLock) recordWrite(verb string, r resourcelock.LeaderElectionRecord, write func() error) error {
	began := o.lease.clock().Now()
	err := write()
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

// recordAccess records whether a permission or the namespace was missing. Other errors change
// nothing.
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
