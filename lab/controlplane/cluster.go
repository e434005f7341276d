// Package controlplane runs a real Kubernetes control plane: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager. Each component runs in a separate process that can be frozen and killed. In a program that
// imports package linked, they can also run in this process. Kwok simulates the nodes in a child process.
//
// The package creates no objects in the cluster, except the CustomResourceDefinitions of Options.Evenkeel, and two with
// Options.LocalPods. RBAC and the admission plugins ServiceAccount and PodSecurity are enabled. The audit log records
// the clients' requests independently of the clients. A process can hold one control plane.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The names of the components.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Scheduler         = "kube-scheduler"
	ControllerManager = "kube-controller-manager"
)

// Linked runs a component in this process until ctx ends. It is nil in programs that do not import package linked.
var Linked func(ctx context.Context, name string, args []string) error

// Cluster is a running control plane.
type Cluster struct {
	componentLayout
	Client kubernetes.Interface
	Config *rest.Config

	programs  string // a folder; empty if the components run in this process
	processes map[string]*Process
	cancel    context.CancelFunc
	failed    chan error
	etcdEnded chan struct{}
	running   sync.WaitGroup

	lifetime       context.Context // ends when Stop ends the components
	endScheduler   context.CancelFunc
	schedulerEnded chan struct{}
}

// pollUntil polls until ask returns no error, a component fails, or the time limit has passed.
func (c *Cluster) pollUntil(ctx context.Context, limit time.Duration, ask func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, limit, true, func(context.Context) (bool, error) {
		select {
		case err := <-c.failed:
			return false, err
		default:
		}
		last = ask()
		return last == nil, nil
	})
	if err != nil && last != nil {
		return errors.Join(err, last)
	}
	return err
}

// Failed delivers an error for each component that ended before Stop.
func (c *Cluster) Failed() <-chan error { return c.failed }

// Stop ends all components and removes the folder. os.Stderr stays redirected, because components log until the process
// ends. The caller should therefore exit soon.
func (c *Cluster) Stop() {
	c.cancel()
	done := make(chan struct{})
	go func() { c.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * time.Second): // an API server without etcd ends slowly; its data is disposable
	}
	os.RemoveAll(c.dir)
}

// CopyEtcdData ends the components like Stop, and copies etcd's data to a folder from which another lab can start
// (Options.Etcd). The folder must not exist. The caller must still call Stop.
func (c *Cluster) CopyEtcdData(folder string) error {
	c.cancel()
	etcdEnded := c.etcdEnded
	if p := c.processes[Etcd]; p != nil {
		etcdEnded = p.ended
	}
	select {
	case <-etcdEnded: // the other components end more slowly but write nothing without etcd
	case <-time.After(time.Minute):
		return errors.New("etcd did not end within a minute, so its data was not copied")
	}
	if err := os.CopyFS(folder, os.DirFS(c.filePath("etcd"))); err != nil {
		return fmt.Errorf("copying the data of etcd: %w", err)
	}
	return nil
}

// Folder returns the folder of the cluster's files, which Stop removes.
func (c *Cluster) Folder() string { return c.dir }
