package usagestack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// serverName is the name under which the API server connects to metrics-server.
const serverName = "metrics-server.kube-system.svc"

// startMetricsServer runs metrics-server as an aggregated API server. metrics-server scrapes all nodes every 10 s, the
// shortest interval that it accepts.
func (b *Stack) startMetricsServer(ctx context.Context, path string) error {
	authority, err := controlplane.NewAuthority()
	if err != nil {
		return err
	}
	cert, key, err := authority.IssueCertificate(serverName, serverName)
	if err != nil {
		return err
	}
	certFile, err1 := b.writeFile("metrics-server.crt", cert)
	keyFile, err2 := b.writeFile("metrics-server.key", key)
	port, err3 := freeport.Get()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if _, err := b.Spawn("metrics-server", path, "--kubeconfig="+b.Kubeconfig,
		"--authentication-kubeconfig="+b.Kubeconfig, "--authorization-kubeconfig="+b.Kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile,
		"--kubelet-preferred-address-types=ExternalIP", "--kubelet-use-node-status-port", "--kubelet-insecure-tls",
		"--metric-resolution=10s", "--kubelet-request-timeout=8s"); err != nil {
		return err
	}
	if err := b.registerAPIService(ctx, port, authority.PEM()); err != nil {
		return err
	}
	return seed.WaitUntil(ctx, startTimeout, func() (bool, error) {
		_, err := b.getFromAPI(ctx, "/apis/metrics.k8s.io/v1beta1")
		return err == nil, err
	})
}

// registerAPIService makes the API server forward metrics.k8s.io to this machine.
func (b *Stack) registerAPIService(ctx context.Context, port int, ca []byte) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "metrics-server", Namespace: "kube-system"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}
	if err := seed.WaitUntil(ctx, startTimeout, func() (bool, error) { // kube-system is created a little later than the API server answers
		_, err := b.Client.CoreV1().Services("kube-system").Create(ctx, service, metav1.CreateOptions{})
		return err == nil, err
	}); err != nil {
		return err
	}
	body := fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1beta1.metrics.k8s.io"},
"spec":{"group":"metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"caBundle":%q,
"service":{"name":"metrics-server","namespace":"kube-system","port":%d}}}`, base64.StdEncoding.EncodeToString(ca), port)
	_, err := b.Client.Discovery().RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").
		SetHeader("Content-Type", "application/json").Body([]byte(body)).DoRaw(ctx)
	return err
}

func (b *Stack) getFromAPI(ctx context.Context, path string) ([]byte, error) {
	return b.Client.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
}

// nodeMetrics is a NodeMetrics object of the metrics API.
type nodeMetrics struct {
	Metadata metav1.ObjectMeta   `json:"metadata"`
	Usage    corev1.ResourceList `json:"usage"`
}

// MeasuredCPU returns the CPU usage of nodes in cores, according to metrics-server. Nodes without metrics are left
// out.
func (b *Stack) MeasuredCPU(ctx context.Context) (map[string]float64, error) {
	body, err := b.getFromAPI(ctx, "/apis/metrics.k8s.io/v1beta1/nodes")
	if err != nil {
		return nil, fmt.Errorf("querying metrics-server: %w", err)
	}
	var list struct {
		Items []nodeMetrics `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, n := range list.Items {
		out[n.Metadata.Name] = n.Usage.Cpu().AsApproximateFloat64()
	}
	return out, nil
}

// MeasuredPods returns the number of pods of a namespace for which metrics-server has metrics.
func (b *Stack) MeasuredPods(ctx context.Context, namespace string) (int, error) {
	body, err := b.getFromAPI(ctx, "/apis/metrics.k8s.io/v1beta1/namespaces/"+namespace+"/pods")
	if err != nil {
		return 0, fmt.Errorf("querying metrics-server: %w", err)
	}
	var list struct {
		Items []struct{} `json:"items"`
	}
	err = json.Unmarshal(body, &list)
	return len(list.Items), err
}
