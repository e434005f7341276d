// Package podrunner runs pods of a lab as processes on this machine, as a kubelet runs them as containers.
//
// The package runs the containers whose image is Evenkeel's by name, with a given program: with the pod's arguments,
// environment, volumes, account and probes. It writes the pods' status, and it keeps the output where `kubectl logs`
// reads it. It pulls no images, isolates nothing, and executes no other containers.
package podrunner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// Runner runs the pods of a lab that was started with Options.LocalPods.
type Runner struct {
	// Cluster is the lab. The runner is its administrator.
	Cluster *controlplane.Cluster
	// Program is the program that the containers run.
	Program string
	// Progress receives a line when a pod starts, ends and is not executed.
	Progress io.Writer

	objects dynamic.Interface
	mu      sync.Mutex
	pods    map[types.UID]*pod
	running sync.WaitGroup
}

// Run runs pods until the context ends. Then it kills the processes without a change of the pods' status.
func (r *Runner) Run(ctx context.Context) error {
	objects, err := dynamic.NewForConfig(r.Cluster.Config)
	if err != nil {
		return err
	}
	r.objects, r.pods = objects, map[types.UID]*pod{}
	factory := informers.NewSharedInformerFactory(r.Cluster.Client, 0)
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { r.observe(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { r.observe(ctx, o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if p := r.remove(o.(*corev1.Pod).UID); p != nil {
				p.kill(errors.New("the pod was deleted without a grace period"))
			}
		},
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	r.running.Wait()
	return nil
}

// observe starts a pod that was bound to a node, and stops a pod that is to terminate.
func (r *Runner) observe(ctx context.Context, p *corev1.Pod) {
	if !controlplane.RunsLocally(p) || p.Spec.NodeName == "" || ended(p) && p.DeletionTimestamp == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	running := r.pods[p.UID]
	if running == nil {
		running = newPod(r, p)
		r.pods[p.UID] = running
		defer r.running.Go(func() { running.run(ctx) })
	}
	if p.DeletionTimestamp != nil && p.DeletionGracePeriodSeconds != nil {
		running.terminate(*p.DeletionGracePeriodSeconds)
	}
}

func (r *Runner) remove(uid types.UID) *pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pods[uid]
	delete(r.pods, uid)
	return p
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func (r *Runner) say(format string, args ...any) {
	if r.Progress != nil {
		fmt.Fprintf(r.Progress, "lab: "+format+"\n", args...)
	}
}

// folder returns the folder of a pod.
func (r *Runner) folder(p *corev1.Pod) string {
	return filepath.Join(r.Cluster.Folder(), "pods", string(p.UID))
}
