package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityEvictionThatCommitsAfterTheLeaderDied kills the leader while a webhook holds its eviction for 29 s. The
// connection to the API server stays open in a proxy, so the eviction commits after the standby has taken over and found the pod. The
// standby must report the eviction once, with an unknown outcome, and must evict no other pod of the workload.
func TestSecurityEvictionThatCommitsAfterTheLeaderDied(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 2))
	held := make(chan struct{}, 10)
	var asked atomic.Int32
	serveWebhook(t, ns, func(*admissionv1.AdmissionRequest) *metav1.Status {
		asked.Add(1)
		held <- struct{}{}
		select {
		case <-t.Context().Done():
		case <-time.After(29 * time.Second):
		}
		return nil
	})
	config := testbed.ConfigFile(t, strings.ReplaceAll(zonesConfig, "0 * * * *", "@every 5s"))
	port := freePort(t)
	first := startRun(t, kubeconfigThatFinishesEvictions(t), config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	port = freePort(t)
	second := startRun(t, lab.Kubeconfig, config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 0")
	select {
	case <-held:
	case <-time.After(90 * time.Second):
		t.Fatal("no eviction reached the webhook")
	}
	first.kill()
	second.stdout.waitFor(t, "about the eviction of the killed leader", func(r passReport) bool {
		return slices.Contains(r.outcomeCodes(), "unknown OutcomeUnknown")
	})
	if events, err := lab.Evictions(ns); err != nil || len(events) > 0 && events[len(events)-1].ResponseStatus != nil &&
		events[len(events)-1].ResponseStatus.Code == 201 {
		t.Errorf("the eviction committed before the standby looked for it (%v), so the test proves nothing", err)
	}
	second.stdout.waitFor(t, "of a pass that backs off from the workload", func(r passReport) bool {
		return len(r.Plan.Moves) == 0 && r.Plan.Rejections.Counts["BackedOff"] > 0
	})
	if err := seed.WaitUntil(t.Context(), 30*time.Second, func() (bool, error) {
		events, err := lab.Evictions(ns)
		return len(events) > 0 && events[len(events)-1].ResponseStatus != nil && events[len(events)-1].ResponseStatus.Code == 201, err
	}); err != nil {
		t.Errorf("the eviction did not commit: %v", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d evictions reached the webhook, want 1", n)
	}
}

// kubeconfigThatFinishesEvictions returns a kubeconfig whose proxy sends each eviction to the end, even if its client
// is gone.
func kubeconfigThatFinishesEvictions(t *testing.T) string {
	t.Helper()
	transport, err := rest.TransportFor(lab.Config)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfigWithProxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !isEviction(r) {
			return false
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return true
		}
		out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, lab.Config.Host+r.URL.RequestURI(),
			bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return true
		}
		out.Header = r.Header.Clone()
		answer, err := transport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return true
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
		return true
	})
}
