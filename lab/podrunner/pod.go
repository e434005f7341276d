package podrunner

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumeInterval is the time between two looks at the objects of volumes. A kubelet takes up to a minute.
const volumeInterval = time.Second

// pod runs the containers of one pod.
type pod struct {
	*corev1.Pod // as it was when the pod was bound
	runner      *Runner
	dir         string
	containers  []*container
	volumes     []*volume

	stop context.CancelCauseFunc // ends the containers at once
	term chan struct{}           // closed when the pod is to terminate within its grace period

	mu     sync.Mutex
	grace  time.Duration
	status sync.Mutex // held while the status is written
}

func newPod(r *Runner, p *corev1.Pod) *pod {
	out := &pod{Pod: p.DeepCopy(), runner: r, dir: r.folder(p), term: make(chan struct{}), stop: func(error) {}}
	for i := range out.Spec.Containers {
		out.containers = append(out.containers, newContainer(out, &out.Spec.Containers[i]))
	}
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
		out.grace = time.Duration(*s) * time.Second
	}
	return out
}

// terminate asks the containers to end within the grace period. Further calls can shorten the period.
func (p *pod) terminate(seconds int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grace = time.Duration(seconds) * time.Second
	select {
	case <-p.term:
	default:
		close(p.term)
	}
}

func (p *pod) gracePeriod() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grace
}

func (p *pod) kill(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop(cause)
}

// run runs the pod until its containers have ended for good. If the pod is to terminate, run deletes it.
func (p *pod) run(parent context.Context) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	p.mu.Lock()
	p.stop = stop
	p.mu.Unlock()
	defer os.RemoveAll(p.dir)
	if !p.terminating() && p.prepare(ctx) {
		p.announce()
		var refresh, containers sync.WaitGroup
		refreshing, end := context.WithCancel(ctx)
		refresh.Go(func() { p.refreshVolumes(refreshing) })
		for _, c := range p.containers {
			containers.Go(func() { c.run(ctx) })
		}
		containers.Wait()
		end()
		refresh.Wait()
	}
	if ctx.Err() == nil { // the output stays readable until the pod is deleted
		select {
		case <-p.term:
			p.delete(ctx)
		case <-ctx.Done():
		}
	}
}

// prepare makes the volumes and the objects with which kwok serves the pod. It waits for missing ConfigMaps and
// Secrets, and returns false if the pod ends first.
func (p *pod) prepare(ctx context.Context) bool {
	for {
		err := p.makeVolumes(ctx)
		for _, c := range p.containers {
			if err == nil {
				err = c.prepare(ctx)
			}
		}
		if err == nil {
			err = p.serveOutput(ctx)
		}
		if err == nil {
			return true
		}
		for _, c := range p.containers {
			c.set(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}})
		}
		p.writeStatus(ctx)
		select {
		case <-ctx.Done():
			return false
		case <-p.term:
			return false
		case <-time.After(volumeInterval):
		}
	}
}

func (p *pod) announce() {
	name := p.Namespace + "/" + p.Name
	for _, c := range p.containers {
		if !c.executed {
			p.runner.say("pod %s: the lab does not execute container %s, because its image %s is not Evenkeel's", name, c.Name, c.Image)
			continue
		}
		p.runner.say("pod %s runs as a local process; kubectl logs --namespace %s %s shows its output", name, p.Namespace, p.Name)
		for _, port := range c.Ports {
			p.runner.say("pod %s: port %d is 127.0.0.1:%d", name, port.ContainerPort, c.ports[port.ContainerPort])
		}
	}
}

// delete removes a pod whose containers have ended, as a kubelet does.
func (p *pod) delete(ctx context.Context) {
	now := int64(0)
	err := p.runner.Cluster.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name,
		metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	if err != nil && ctx.Err() == nil && !isGone(err) {
		p.runner.say("pod %s/%s: deleting it: %v", p.Namespace, p.Name, err)
	}
}

var errNotAlive = errors.New("its liveness probe failed")
