package podrunner

import (
	"cmp"
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// startProbes runs the HTTP probes of a container until the context ends: liveness and readiness after the startup
// probe succeeded. kill ends the container if it is not alive. Other kinds of probes always succeed.
func (c *container) startProbes(ctx context.Context, kill func()) *sync.WaitGroup {
	probing := &sync.WaitGroup{}
	probing.Go(func() {
		if c.StartupProbe != nil {
			if !c.probeUntil(ctx, c.StartupProbe, true) {
				if ctx.Err() == nil {
					kill()
				}
				return
			}
			c.update(ctx, c.ReadinessProbe == nil)
		}
		if c.LivenessProbe != nil {
			probing.Go(func() {
				if c.probeUntil(ctx, c.LivenessProbe, false); ctx.Err() == nil {
					kill()
				}
			})
		}
		for ready := false; c.ReadinessProbe != nil && ctx.Err() == nil; {
			c.probeUntil(ctx, c.ReadinessProbe, !ready)
			if ctx.Err() == nil {
				ready = !ready
				c.update(ctx, ready)
			}
		}
	})
	return probing
}

func (c *container) update(ctx context.Context, ready bool) {
	if c.setReady(ready, true) {
		c.pod.writeStatus(ctx)
	}
}

// probeUntil repeats a probe until it succeeded or failed as often in a row as its thresholds say, and the result is
// the wanted one. A startup probe that fails too often ends it, too. It returns whether the probe succeeded last.
func (c *container) probeUntil(ctx context.Context, p *corev1.Probe, want bool) bool {
	period := time.Duration(cmp.Or(p.PeriodSeconds, 10)) * time.Second
	wait := time.Duration(p.InitialDelaySeconds) * time.Second
	succeeded, failed := int32(0), int32(0)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		if c.probe(p) {
			succeeded, failed = succeeded+1, 0
		} else {
			succeeded, failed = 0, failed+1
		}
		switch {
		case want && succeeded >= max(1, p.SuccessThreshold):
			return true
		case failed >= max(1, p.FailureThreshold) && (!want || p == c.StartupProbe):
			return false
		}
		wait = period
	}
}

func (c *container) probe(p *corev1.Probe) bool {
	if p.HTTPGet == nil {
		return true
	}
	get := *p.HTTPGet
	port, err := probe.ResolveContainerPort(get.Port, c.Container)
	if err != nil {
		return false
	}
	get.Port, get.Host = intstr.FromInt32(cmp.Or(c.ports[int32(port)], int32(port))), "127.0.0.1"
	request, err := httpprobe.NewRequestForHTTPGetAction(&get, c.Container, "127.0.0.1", "probe")
	if err != nil {
		return false
	}
	result, _, err := httpprobe.New(false).Probe(request, time.Duration(max(1, p.TimeoutSeconds))*time.Second)
	return err == nil && (result == probe.Success || result == probe.Warning)
}
