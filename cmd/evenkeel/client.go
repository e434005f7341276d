package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/observe"
)

// connectTimeout bounds how long a command waits for the first complete read of the cluster.
const connectTimeout = 30 * time.Second

// client connects with the kubeconfig that kubectl would use, or with the service account of the pod. The client does
// not reload a changed kubeconfig; newReloadingClient returns one that does.
func (g *globalFlags) client() (kubernetes.Interface, *rest.Config, error) {
	c, err := g.restConfig()
	if err != nil {
		return nil, nil, err
	}
	return connection.Connect(c)
}

// restConfig returns the address of the cluster and the credentials.
func (g *globalFlags) restConfig() (*rest.Config, error) {
	c, err := g.RESTConfig()
	if err != nil {
		return nil, err
	}
	connection.SetUserAgent(c, "evenkeel/"+programVersion())
	return c, nil
}

// startObserver starts an observer and waits until the observer has read the whole cluster.
func (g *globalFlags) startObserver(ctx context.Context, client kubernetes.Interface, conf *rest.Config) (*observe.Observer, error) {
	o := observe.New(client, clock.RealClock{})
	o.Start(ctx)
	return o, g.waitForSync(ctx, o, conf)
}

// waitForSync waits until the observer has read the whole cluster, for at most syncTimeout.
func (g *globalFlags) waitForSync(ctx context.Context, o *observe.Observer, conf *rest.Config) error {
	g.progress.Start("reading the cluster at %s", connection.ServerHost(conf))
	ctx, cancel := context.WithTimeout(ctx, g.syncTimeout)
	defer cancel()
	if err := o.WaitForSync(ctx); err != nil {
		return fmt.Errorf("reading the cluster at %s: %w", connection.ServerHost(conf), err)
	}
	return nil
}
