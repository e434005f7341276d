package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/web"
)

// runSchedules serves the web endpoints, and runs the strategies on their schedules while this process leads.
func (r *runCommand) runSchedules(ctx context.Context, c *controller.Controller) error {
	set := r.settings
	r.log.Info("running", "mode", c.Mode, "cluster", connection.ServerHost(r.rest), "namespace", r.namespace, "hash", r.conf.Hash(), "configHash", r.conf.PlanHash(), "strategies", r.due)
	servers, err := r.serving.listen(statusPages{
		Health: web.Health{
			Live:  []web.Check{{Name: "leader-election", Check: set.lease.CheckHealth}, {Name: "progress", Check: c.CheckProgress}},
			Ready: []web.Check{{Name: "informer-sync", Check: r.checkSynced}},
		},
		Metrics: r.metrics.Registry, Routes: append(web.WatcherRoutes(set.usage), web.HintRoutes(set.hints)...),
		Certificate: r.certificate, Config: r.effectiveConfig, Client: r.client, Log: r.log,
	})
	if err != nil {
		return err
	}
	return servers.runBeside(ctx, func(ctx context.Context) error {
		if err := r.observer.WaitForSync(ctx); err != nil && ctx.Err() == nil {
			r.reportMissingPermission(ctx, err)
			return fmt.Errorf("reading the cluster: %w", err)
		}
		return runBeside(ctx, set.usage.run, func(ctx context.Context) error {
			warnIfPaused(ctx, set.store.Pauses, c.Mode, r.log)
			return runBeside(ctx, r.trust.Run, func(ctx context.Context) error { return runAsLeader(ctx, set, c) })
		})
	})
}

// checkSynced returns an error until the initial list of cluster objects is complete.
func (r *runCommand) checkSynced() error {
	if !r.observer.Synced() {
		return errors.New("the initial list of cluster objects is not complete yet")
	}
	return nil
}

// warnIfPaused logs a pause that was there before this process. Uninstalling does not remove a
// pause, so it may be older than the installation. If the pause cannot be read, warnIfPaused logs
// nothing: every pass reads it again.
func warnIfPaused(ctx context.Context, pauses state.PauseStore, mode plan.Mode, log *slog.Logger) {
	p, err := pauses.Read(ctx)
	if mode != plan.Live || err != nil || p == nil {
		return
	}
	log.Warn("an earlier pause holds this installation: nothing is evicted until the pause ends", "pause", p.Block().Reason.Message,
		"age", plan.AgeText(pauses.Clock.Since(p.Since)), "rebalancer", pauses.Objects.Namespace+"/"+objects.ReleaseName,
		"toResume", "evenkeel resume --lease-namespace "+pauses.Objects.Namespace)
}

// runAsLeader runs the controller while this process leads. Dry runs use a separate Lease and therefore never block a
// process that evicts. If a new configuration changes dryRun, the process switches to the other Lease, also while it
// waits.
func runAsLeader(ctx context.Context, set *controllerSettings, c *controller.Controller) error {
	for ctx.Err() == nil {
		c.ApplyReload()
		set.lease.DryRun = c.Mode != plan.Live
		if err := set.lease.Lead(ctx, 0, func(ctx context.Context) error {
			return runBeside(ctx, set.hints.run, func(ctx context.Context) error {
				return runBeside(ctx, set.followPause(c.Mode), func(ctx context.Context) error { return runPasses(ctx, c) })
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// runPasses makes passes until a new configuration changes dryRun, or until ctx ends. In the latter case, the error
// names each run that runPasses could not close.
func runPasses(ctx context.Context, c *controller.Controller) error {
	c.Run(ctx)
	if ctx.Err() == nil {
		return nil
	}
	return c.UnclosedRuns()
}

// configPage is the document at /configz. It contains no secrets: a configuration names files with tokens and keys, and
// its addresses have no user.
type configPage struct {
	Version    string         `json:"version"`
	Hash       string         `json:"hash"`       // of the whole configuration
	ConfigHash string         `json:"configHash"` // of what plans depend on, as in reports
	Config     *config.Config `json:"config"`     // the newest valid configuration, with its defaults
}

func (r *runCommand) effectiveConfig() any {
	conf := r.newest.Load()
	return configPage{programVersion(), conf.Hash(), conf.PlanHash(), conf}
}
