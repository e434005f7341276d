package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Times of the Lease. A leader that cannot renew stops within RenewDeadline,
// LeaseDuration before anyone else may start; every eviction call must end
// within the difference.
const (
	leaseName     = "evenkeel"
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// Lease makes sure that one process at a time evicts.
type Lease struct {
	Client    kubernetes.Interface
	Namespace string
	// Identity tells this process from the others.
	Identity string
	// Leading is told when leadership is gained and lost.
	Leading func(bool)
}

// Lead waits for the Lease, runs work while it holds, and releases it only
// after work has returned. It returns work's error, or one that names the
// holder when the Lease was not to be had within wait (0: waits until ctx ends).
func (l Lease) Lead(ctx context.Context, wait time.Duration, work func(ctx context.Context) error) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: leaseName},
		Client:     l.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
	}
	// The elector ends by its own context, which outlives work: work is stopped
	// first, then the Lease is released.
	elect, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	started := make(chan context.Context, 1)
	lost := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true, Name: leaseName,
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
	case <-timeout:
		return l.notLeading(ctx, lock, elector.GetLeader(), wait)
	}
	l.Leading(true)
	defer l.Leading(false)
	return l.whileLeading(ctx, lost, work)
}

func (l Lease) whileLeading(ctx context.Context, lost <-chan struct{}, work func(ctx context.Context) error) error {
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
		return errors.Join(err, fmt.Errorf("lost the Lease %s/%s", l.Namespace, leaseName))
	}
	return err
}

// lookTime bounds the last look at a Lease that could not be taken.
const lookTime = 2 * time.Second

func (l Lease) notLeading(ctx context.Context, lock resourcelock.Interface, holder string, wait time.Duration) error {
	if holder == "" {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		if _, _, err := lock.Get(ctx); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("could not take the Lease %s/%s within %s: reading it: %w", l.Namespace, leaseName, wait, err)
		}
		return fmt.Errorf("could not take the Lease %s/%s within %s: it has no holder, so writing it failed; check the permission to create and update leases there", l.Namespace, leaseName, wait)
	}
	return fmt.Errorf("the Lease %s/%s is held by %s and did not come free within %s", l.Namespace, leaseName, holder, wait)
}
