package podrunner

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

func (p *pod) terminating() bool {
	select {
	case <-p.term:
		return true
	default:
		return false
	}
}

func (c *container) set(s corev1.ContainerState) {
	c.pod.mu.Lock()
	defer c.pod.mu.Unlock()
	if c.state.Terminated != nil {
		c.last = c.state
	}
	c.state, c.ready, c.started = s, false, false
}

func (c *container) setRunning(ready bool) {
	c.set(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}})
	c.setReady(ready, c.StartupProbe == nil)
}

// setReady sets whether the container is ready and started, and reports whether that is a change.
func (c *container) setReady(ready, started bool) bool {
	c.pod.mu.Lock()
	defer c.pod.mu.Unlock()
	changed := c.ready != ready || c.started != started
	c.ready, c.started = ready, started
	return changed
}

func (c *container) terminated(ctx context.Context, begun metav1.Time, code int, message string) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	c.set(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: reason,
		Message: message, StartedAt: begun, FinishedAt: metav1.Now()}})
	c.pod.writeStatus(ctx)
}

// writeStatus writes the status of the pod as it is now.
func (p *pod) writeStatus(ctx context.Context) {
	p.status.Lock()
	defer p.status.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer stop()
	pods := p.runner.Cluster.Client.CoreV1().Pods(p.Namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := pods.Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil || now.UID != p.UID {
			return err
		}
		p.fillStatus(&now.Status)
		_, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !isGone(err) {
		p.runner.say("pod %s/%s: writing its status: %v", p.Namespace, p.Name, err)
	}
}

func isGone(err error) bool { return apierrors.IsNotFound(err) }

// fillStatus sets what a kubelet sets in the status of a pod.
func (p *pod) fillStatus(s *corev1.PodStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.HostIP, s.PodIP = "127.0.0.1", "127.0.0.1"
	s.HostIPs, s.PodIPs = []corev1.HostIP{{IP: s.HostIP}}, []corev1.PodIP{{IP: s.PodIP}}
	if s.StartTime == nil {
		now := metav1.Now()
		s.StartTime = &now
	}
	s.ContainerStatuses = nil
	ready := true
	for _, c := range p.containers {
		started := c.started
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: c.state,
			LastTerminationState: c.last, RestartCount: c.restarts, Ready: c.ready, Started: &started})
		ready = ready && c.ready
	}
	s.Phase = p.phase()
	initialized := true
	for kind, value := range map[corev1.PodConditionType]bool{corev1.PodInitialized: initialized, corev1.ContainersReady: ready, corev1.PodReady: ready} {
		setCondition(s, kind, value)
	}
}

// phase returns the phase of the pod by its containers. Containers that the lab does not execute do not count.
func (p *pod) phase() corev1.PodPhase {
	running, failed := false, false
	for _, c := range p.containers {
		switch t := c.state.Terminated; {
		case !c.executed:
		case t == nil && c.state.Running == nil && c.restarts == 0 && c.last.Terminated == nil:
			return corev1.PodPending
		case t == nil, c.restartsAfter(int(t.ExitCode)) && !p.terminating():
			running = true
		default:
			failed = failed || t.ExitCode != 0
		}
	}
	switch {
	case running:
		return corev1.PodRunning
	case failed:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, value bool) {
	want := corev1.ConditionFalse
	if value {
		want = corev1.ConditionTrue
	}
	i := slices.IndexFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		i = len(s.Conditions)
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind})
	}
	if s.Conditions[i].Status != want {
		s.Conditions[i].Status, s.Conditions[i].LastTransitionTime = want, metav1.Now()
	}
}
