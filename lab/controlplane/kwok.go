package controlplane

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

//go:embed usage.yaml
var usage []byte

// The annotations that set the resource usage of a pod, as quantities. An annotation applies to every container of the
// pod and can change at any time. The default is 1m and 1Mi per container.
const (
	UsageCPU    = "kwok.x-k8s.io/usage-cpu"
	UsageMemory = "kwok.x-k8s.io/usage-memory"
)

//go:embed stages.yaml
var stages []byte

// StopsSlowly is the annotation of pods that terminate only at the end of their grace period. Others take a second.
const StopsSlowly = "lab.evenkeel.io/stops-slowly"

// NodeAnnotation marks the nodes that kwok manages.
const NodeAnnotation = "kwok.x-k8s.io/node"

// runKwok starts kwok as a child process. kwok is not linked as a library, because it would exit this process on an
// error. The child ends with this process.
func (c *Cluster) runKwok(ctx context.Context, o Options) error {
	if o.Kwok == "" {
		return errors.New("the path of the kwok program is empty; build kwok with `make lab`")
	}
	argv := []string{o.Kwok, "--kubeconfig=" + c.Kubeconfig, "--config=" + c.filePath("stages.yaml"),
		"--manage-all-nodes=false", "--manage-nodes-with-annotation-selector=" + NodeAnnotation + "=fake",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.ports.kwok)}
	if o.LocalPods {
		if err := c.createKubeletResources(ctx); err != nil {
			return err
		}
		argv = append(argv, "--enable-crds="+strings.Join(kubeletKinds, ","))
	}
	return c.startProcess(ctx, "kwok", argv)
}

// KwokPort returns the port on which kwok serves the kubelet's API and the target list for Prometheus
// (/discovery/prometheus).
func (c *Cluster) KwokPort() int { return c.ports.kwok }

// KubeletStatus returns the status of a node whose kubelet is kwok's server.
func (c *Cluster) KubeletStatus() corev1.NodeStatus {
	return corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(c.ports.kwok)}}}
}
