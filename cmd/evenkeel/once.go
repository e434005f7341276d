package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

// runOnce makes a single pass.
func (r *runCommand) runOnce(ctx context.Context, c *controller.Controller) error {
	set := r.settings
	if err := set.usage.checkSampleCounts(); err != nil {
		return err
	}
	if err := r.g.waitForSync(ctx, r.observer, r.rest); err != nil {
		r.reportMissingPermission(ctx, err)
		return err
	}
	if r.repeated != nil && r.conf.DryRun { // a live pass needs the kinds
		if _, err := set.objects.Rebalancers.Get(ctx, objects.ReleaseName, metav1.GetOptions{}); objects.IsKindMissing(err) {
			r.reports.table.Context.NoRelease = true
			r.repeated.addDefault("config", installed.Builtin)
		}
	}
	r.g.progress.Start("reading usage from %s", r.conf.Load.Source)
	set.usage.sampleOnce(ctx)
	c.OnStep = r.g.printProgress
	warnAboutShortTTL(r.conf, time.Now(), r.log)
	begun := false
	work := func(ctx context.Context) error {
		if r.passTimeout > 0 {
			c.StopAt = c.Clock.Now().Add(r.passTimeout)
		}
		return runBeside(ctx, set.usage.run, func(ctx context.Context) error {
			unwritten := set.hints.reconcileOnce(ctx, r.conf)
			set.checkPause(ctx, c.Mode)
			err := runBeside(ctx, set.hints.run, func(ctx context.Context) error {
				begun = true
				return errors.Join(runSinglePass(ctx, c, r.due), r.reports.failed)
			})
			return errors.Join(err, unwritten)
		})
	}
	var err error
	if r.conf.DryRun {
		err = work(ctx) // a dry run evicts nothing, so it needs no Lease
	} else {
		set.lease.OnWaiting = func(holder string) {
			logWaiting(r.log, r.namespace, holder, r.leaseTimeout)
			r.g.progress.Start("waiting for the Lease in namespace %s, which %s holds", r.namespace, holder)
		}
		r.g.progress.Start("waiting for the Lease in namespace %s", r.namespace)
		err = set.lease.Lead(ctx, r.leaseTimeout, work)
	}
	return errorIfNotBegun(err, begun)
}

// runSinglePass executes approved steps of a waiting plan, if there are any, and the oldest request for a pass. Then it
// makes one pass, and returns an error if the pass could not run to its end. The end of --pass-timeout is no error: the
// next pass plans what remains.
func runSinglePass(ctx context.Context, c *controller.Controller, due []string) error {
	c.ExecuteApproved(ctx)
	c.ExecuteRequested(ctx)
	r, err := c.RunOnce(ctx, due)
	switch {
	case err != nil:
		err = fmt.Errorf("nothing was evicted: %w", err)
	case r.Stopped != nil && r.Stopped.Code != plan.PassTimeout:
		err = fmt.Errorf("the pass stopped early: %s: %s", r.Stopped.Code, r.Stopped.Message)
	}
	if !r.EndedBeforePlanning() { // otherwise err names the cause
		err = errors.Join(err, unjudgedErrors(r.Plan, due))
	}
	return errors.Join(err, c.UnclosedRuns())
}

// reportMissingPermission publishes the report of a pass that cannot begin, because the account may
// not read the cluster.
func (r *runCommand) reportMissingPermission(ctx context.Context, err error) {
	if controller.IsPermissionMissing(err) {
		r.controller.ReportUnreadable(ctx, r.due, err)
	}
}
