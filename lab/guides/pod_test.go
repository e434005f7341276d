package guides

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/podrunner"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const namespace = "evenkeel"

// readyPod returns the Ready pod of release evenkeel, which the lab runs as a process.
func readyPod(ctx context.Context) (*corev1.Pod, error) {
	pods, err := lab.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=evenkeel"})
	if err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil {
				return &p, nil
			}
		}
	}
	return nil, fmt.Errorf("none of %d pods in namespace %s is Ready", len(pods.Items), namespace)
}

// waitForPod waits until a pod of release evenkeel is Ready. If the test fails, it shows the output of the pod.
func waitForPod(t *testing.T) {
	t.Helper()
	eventually(t, "a pod of the release is Ready", func() (bool, error) {
		_, err := readyPod(t.Context())
		return err == nil, err
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of the pod:\n%s", output(context.Background()))
		}
	})
}

// output returns the output of the pod, as kubectl logs shows it.
func output(ctx context.Context) string {
	p, err := readyPod(ctx)
	if err != nil {
		return ""
	}
	text, err := lab.Client.CoreV1().Pods(namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	if err != nil {
		return ""
	}
	return string(text)
}

// ask returns the answer of the pod to a GET request; empty if there is none.
func ask(t *testing.T, path string) string {
	t.Helper()
	p, err := readyPod(t.Context())
	if err != nil {
		return ""
	}
	address, err := podrunner.LocalAddress(t.Context(), lab, p.Namespace, p.Name, 8080)
	if err != nil {
		return ""
	}
	return get("http://" + address + path)
}

// eventually waits until the condition is true, at most three minutes.
func eventually(t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	if err := seed.WaitUntil(t.Context(), 3*time.Minute, is); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
