package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/observe"
)

// connectTimeout bounds how long a command waits for its first look at the
// cluster.
var connectTimeout = 30 * time.Second

// client connects as kubectl would, or with the pod's own account. The rate is
// left to the API server's priority and fairness.
func (g *global) client() (kubernetes.Interface, *rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = g.kubeconfig
	c, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: g.context}).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, nil, errors.New("finding the cluster: no kubeconfig says where it is, and this is not a pod; give --kubeconfig, or -f FILE to plan on a snapshot")
	case err != nil:
		return nil, nil, fmt.Errorf("finding the cluster: %w; check --kubeconfig and --context, or give -f FILE to plan on a snapshot", err)
	}
	c.UserAgent = "evenkeel/" + version
	c.QPS, c.Burst = 100, 200
	c.ContentType = "application/vnd.kubernetes.protobuf"
	c.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to %s: %w; check the kubeconfig", host(c), err)
	}
	return client, c, nil
}

// host is the server without anything secret that a URL may carry.
func host(c *rest.Config) string {
	u, err := url.Parse(c.Host)
	if err != nil {
		return "the API server"
	}
	return u.Redacted()
}

// observed starts an observer and waits until it has seen everything.
func observed(ctx context.Context, client kubernetes.Interface, conf *rest.Config) (*observe.Observer, error) {
	o := observe.New(client, clock.RealClock{})
	o.Start(ctx)
	wait, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := o.WaitForSync(wait); err != nil {
		return nil, fmt.Errorf("looking at the cluster at %s: %w", host(conf), err)
	}
	return o, nil
}
