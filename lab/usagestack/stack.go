// Package usagestack runs released usage sources beside a lab: metrics-server, Prometheus, a Pushgateway and a
// node_exporter. Annotations define the resource usage of the fake pods.
//
// The package starts the sources and connects them. The package does not decide what is measured, and does not use the
// program under test.
package usagestack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// ToolPaths are the paths of the programs. A program with an empty path is not started.
type ToolPaths struct{ Kwok, MetricsServer, Prometheus, Pushgateway, NodeExporter string }

// ToolsFromEnvironment reads the paths from environment variables. The error lists every variable that does not name an
// existing file.
func ToolsFromEnvironment() (ToolPaths, error) {
	var t ToolPaths
	var errs []error
	for name, into := range map[string]*string{"EVENKEEL_KWOK": &t.Kwok, "EVENKEEL_METRICS_SERVER": &t.MetricsServer,
		"EVENKEEL_PROMETHEUS": &t.Prometheus, "EVENKEEL_PUSHGATEWAY": &t.Pushgateway, "EVENKEEL_NODE_EXPORTER": &t.NodeExporter} {
		*into = os.Getenv(name)
		if _, err := os.Stat(*into); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return t, errors.Join(errs...)
}

// Stack is a lab with sources of resource usage.
type Stack struct {
	*controlplane.Cluster
	// Prometheus and Pushgateway are addresses (http://...). NodeExporter is the instance label (host:port) of the
	// node_exporter in Prometheus.
	Prometheus, Pushgateway, NodeExporter string

	dir string
}

// startTimeout is the time that a program may take to start on a slow machine.
const startTimeout = 2 * time.Minute

// Start starts a lab and the usage sources in it. The sources keep their files in dir.
func Start(ctx context.Context, dir string, tools ToolPaths, o controlplane.Options) (*Stack, error) {
	o.Kwok, o.Usage, o.Aggregation = tools.Kwok, true, true
	c, err := controlplane.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &Stack{Cluster: c, dir: dir}
	say := func(what string) {
		if o.Progress != nil {
			fmt.Fprintln(o.Progress, "lab: "+what)
		}
	}
	for _, step := range []struct {
		what string
		do   func(context.Context, string) error
		path string
	}{
		{"metrics-server", b.startMetricsServer, tools.MetricsServer},
		{"Pushgateway", b.startPushgateway, tools.Pushgateway},
		{"node_exporter", b.startNodeExporter, tools.NodeExporter},
		{"Prometheus", b.startPrometheus, tools.Prometheus},
	} {
		if step.path == "" {
			continue
		}
		if err := step.do(ctx, step.path); err != nil {
			c.Stop()
			return nil, fmt.Errorf("starting %s: %w", step.what, err)
		}
		say(step.what + " is up")
	}
	return b, nil
}

// writeFile writes a file to the stack's folder and returns its path.
func (b *Stack) writeFile(name string, data []byte) (string, error) {
	path := filepath.Join(b.dir, name)
	return path, os.WriteFile(path, data, 0o600)
}

// Node describes a fake node.
type Node struct {
	Name     string
	Zone     string // empty means zone-1
	CPU      int64  // cores; 0 means 10
	MemoryGi int64  // GiB; 0 means 10
	// Address is the node's InternalIP; metrics-server connects to the node's ExternalIP instead.
	Address string
}

// AddNode creates a Ready node whose kubelet kwok simulates.
func (b *Stack) AddNode(ctx context.Context, n Node) error {
	return seed.CreateNode(ctx, b.Client, seed.Node{Name: n.Name, Zone: cmp.Or(n.Zone, "zone-1"), CPU: n.CPU, MemoryGi: n.MemoryGi,
		Annotations: map[string]string{"metrics.k8s.io/resource-metrics-path": "/metrics/nodes/" + n.Name + "/metrics/resource"},
		Status: corev1.NodeStatus{
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.Address},
				{Type: corev1.NodeExternalIP, Address: "127.0.0.1"}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(b.KwokPort())}}}})
}

// UsageAnnotations returns the pod annotations that make each container use the given amounts.
func UsageAnnotations(milliCPU, memoryMi int64) map[string]string {
	return map[string]string{
		controlplane.UsageCPU:    fmt.Sprintf("%dm", milliCPU),
		controlplane.UsageMemory: fmt.Sprintf("%dMi", memoryMi),
	}
}

// SetUsage changes the usage of an app's running pods. Pods that are created later keep the usage of their template.
func (b *Stack) SetUsage(ctx context.Context, namespace, app string, milliCPU, memoryMi int64) error {
	api := b.Client.CoreV1().Pods(namespace)
	pods, err := api.List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return err
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%dm",%q:"%dMi"}}}`,
		controlplane.UsageCPU, milliCPU, controlplane.UsageMemory, memoryMi)
	for _, p := range pods.Items {
		_, err := api.Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("setting the usage of pod %s: %w", p.Name, err)
		}
	}
	return nil
}
