package controlplane

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/component-base/configz"
)

// startScheduler runs kube-scheduler until Reschedule or Stop.
func (c *Cluster) startScheduler(ctx context.Context) {
	if c.programs != "" {
		c.startComponent(ctx, Scheduler, c.schedulerArgs())
		return
	}
	ctx, c.endScheduler = context.WithCancel(ctx)
	c.schedulerEnded = make(chan struct{})
	ended := c.schedulerEnded
	c.running.Go(func() {
		err := Linked(ctx, Scheduler, c.schedulerArgs())
		close(ended)
		if ctx.Err() == nil {
			c.failed <- fmt.Errorf("%s ended: %w", Scheduler, err)
		}
	})
}

// RestartScheduler restarts kube-scheduler with a new configuration, like Options.SchedulerConfig.
// RestartScheduler returns when the new scheduler answers.
func (c *Cluster) RestartScheduler(ctx context.Context, config []byte) error {
	text, err := c.schedulerConfig(config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.filePath("scheduler.yaml"), text, 0o600); err != nil {
		return err
	}
	if err := c.StopScheduler(); err != nil {
		return err
	}
	if p := c.processes[Scheduler]; p != nil {
		if err := p.Start(); err != nil {
			return err
		}
		return c.waitForScheduler(ctx)
	}
	configz.Delete("componentconfig") // kube-scheduler registers it once per process
	c.startScheduler(c.lifetime)
	return c.waitForScheduler(ctx)
}

// StopScheduler stops kube-scheduler and waits until it has ended. Pods stay Pending until Reschedule starts the
// scheduler again. StopScheduler does nothing if the scheduler has already ended.
func (c *Cluster) StopScheduler() error {
	if p := c.processes[Scheduler]; p != nil {
		if p.isKilled() {
			return nil
		}
		return p.Kill()
	}
	c.endScheduler()
	select {
	case <-c.schedulerEnded:
		return nil
	case <-time.After(30 * time.Second):
		return fmt.Errorf("kube-scheduler did not end within 30s")
	}
}

func (c *Cluster) waitForScheduler(ctx context.Context) error {
	if err := c.pollUntil(ctx, startTimeout, func() error { return checkHealth(c.ports.scheduler) }); err != nil {
		return fmt.Errorf("starting kube-scheduler: %w\n%s", err, c.logTail())
	}
	return nil
}
