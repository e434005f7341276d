package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// forgedHintConfig hints at most one of the three nodes.
const forgedHintConfig = `
strategies: {}
load: {source: prometheus, interval: 5s, prometheus: {url: %q, preset: none}}
hints:
  enabled: true
  label: status=presure
  rules: [{name: cpu, promql: node_pressure, above: 0.8}]
`

// TestSecurityForgedHint lets the kubelet of n1 forge the record of a hint. NodeRestriction forbids
// the kubelet to write labels of node-restriction.kubernetes.io and taints. The controller must not
// do so in its place, and n2, which is hot, must get the only hint.
func TestSecurityForgedHint(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 1}, 0))
	kubelet := kubeletClient(t)
	const secure, team = "node-restriction.kubernetes.io/tier", "node-restriction.kubernetes.io/team"
	if err := patchOwnNode(t, kubelet, map[string]any{"labels": map[string]string{secure: "gold"}}); !apierrors.IsForbidden(err) {
		t.Fatalf("the kubelet may write the label %s: %v", secure, err)
	}
	patchNode(t, "n1", map[string]any{"metadata": map[string]any{"labels": map[string]string{team: "a"}}})
	editTaints(t, "n1", func(now []corev1.Taint) []corev1.Taint {
		return append(now, corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectPreferNoSchedule})
	})
	t.Cleanup(func() { removeForgedHint(t, secure, team) })

	forge := func(label, taint string) {
		t.Helper()
		record := fmt.Sprintf(`{"since":"2026-01-01T00:00:00Z","expires":%q,"rule":"cpu","value":0.9,"label":%q,"taint":%q}`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339), label, taint)
		if err := patchOwnNode(t, kubelet, map[string]any{"annotations": map[string]string{"evenkeel.io/pressure": record}}); err != nil {
			t.Fatalf("the kubelet cannot forge a record: %v", err)
		}
	}
	forge(secure+"=gold", "")
	bind := freePort(t)
	startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, fmt.Sprintf(forgedHintConfig, pressureOfN2(t))), ns, bind)
	waitUntilRecordIsGone(t, secure, "")
	waitForMetric(t, "http://"+bind, "evenkeel_hint_invalid_records_removed_total 1")
	forge(team+"=a", "dedicated")
	waitUntilRecordIsGone(t, team, "a")
	waitForMetric(t, "http://"+bind, "evenkeel_hint_invalid_records_removed_total 2")
	if n1 := getNode(t, "n1"); !slices.ContainsFunc(n1.Spec.Taints, func(x corev1.Taint) bool { return x.Key == "dedicated" }) {
		t.Errorf("the controller removed a taint of another owner; n1 has %v", n1.Spec.Taints)
	}
	waitForMetric(t, "http://"+bind, `evenkeel_hinted_nodes{rule="cpu"} 1`)
	if got := getNode(t, "n2").Labels["status"]; got != "presure" {
		t.Errorf("n2 has the label status=%q, want the hint", got)
	}
	waitForNodeEvent(t, "n1", "InvalidHintRecord", secure) // one event for both, with the note of the first
}

// waitUntilRecordIsGone waits until n1 has no record. Until then, the label must keep its value
// ("": it must be missing).
func waitUntilRecordIsGone(t *testing.T, key, value string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		n := getNode(t, "n1")
		if got := n.Labels[key]; got != value {
			t.Fatalf("the controller changed the label %s of n1 to %q, as the kubelet asked", key, got)
		}
		if _, recorded := n.Annotations["evenkeel.io/pressure"]; recorded {
			return false, errors.New("n1 still has the forged record")
		}
		return true, nil
	}))
}

// kubeletClient returns a client with the credential of the kubelet of n1.
func kubeletClient(t *testing.T) kubernetes.Interface {
	t.Helper()
	path := must.Get(lab.UserKubeconfig(controlplane.Kubelet("n1")))(t)
	data := must.Get(os.ReadFile(path))(t)
	config := must.Get(clientcmd.RESTConfigFromKubeConfig(data))(t)
	return kubernetes.NewForConfigOrDie(config)
}

func patchOwnNode(t *testing.T, kubelet kubernetes.Interface, meta map[string]any) error {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		t.Fatal(err)
	}
	_, err = kubelet.CoreV1().Nodes().Patch(t.Context(), "n1", types.StrategicMergePatchType, body, metav1.PatchOptions{})
	return err
}

// pressureOfN2 serves a Prometheus on which n2 is hot, n3 is cool, and nothing is known about n1.
func pressureOfN2(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result := ""
		if r.URL.Path == "/api/v1/query" && r.FormValue("query") == "node_pressure" {
			at := time.Now().Unix()
			result = fmt.Sprintf(`{"metric":{"instance":"n2"},"value":[%d,"0.95"]},{"metric":{"instance":"n3"},"value":[%d,"0.1"]}`, at, at)
		}
		kind := "vector"
		if strings.HasSuffix(r.URL.Path, "_range") {
			kind = "matrix"
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":[%s]}}`, kind, result)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func removeForgedHint(t *testing.T, labels ...string) {
	t.Helper()
	gone := map[string]any{"status": nil}
	for _, key := range labels {
		gone[key] = nil
	}
	for _, name := range []string{"n1", "n2"} {
		patchNode(t, name, map[string]any{"metadata": map[string]any{"labels": gone, "annotations": map[string]any{"evenkeel.io/pressure": nil}}})
	}
	editTaints(t, "n1", func(now []corev1.Taint) []corev1.Taint {
		return slices.DeleteFunc(now, func(x corev1.Taint) bool { return x.Key == "dedicated" })
	})
}

// waitForNodeEvent waits for an event of the node whose note contains the text.
func waitForNodeEvent(t *testing.T, node, reason, text string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		list, err := lab.Client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.Regarding.Kind == "Node" && e.Regarding.Name == node && e.Reason == reason && strings.Contains(e.Note, text) {
				return true, nil
			}
		}
		return false, fmt.Errorf("node %s has no event %s with %q", node, reason, text)
	}))
}
