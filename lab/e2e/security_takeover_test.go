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

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityEvictionThatCommitsAfterTheLeaderDied kills the leader while a webhook holds its
// eviction for 29 s. The connection to the API server stays open in a proxy, so the eviction
// commits after the next process has taken the Lease and found the pod. This process must report
// the eviction once, with an unknown outcome, and must evict no other pod of the workload.
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
	config := testbed.ConfigFile(t, strings.ReplaceAll(zonesConfig, "0 * * * *", "* * * * *"))
	first := startRun(t, kubeconfigThatFinishesEvictions(t), config, ns, freePort(t))
	select {
	case <-held:
	case <-time.After(90 * time.Second):
		t.Fatal("no eviction reached the webhook")
	}
	first.kill()
	// A single pass begins as soon as the Lease of the killed process has expired.
	next := runEvenkeel(t, append([]string{"run", "--once", "--lease-namespace", ns, "--config", config}, testbed.ReportFlags...)...)
	if n := acceptedEvictions(t, ns); n != 0 {
		t.Errorf("%d evictions committed before the next process looked for them, so the test proves nothing", n)
	}
	reports := testbed.Reports(next.stderr)
	if len(reports) != 2 || !slices.Equal(reports[0].OutcomeCodes(), []string{"unknown OutcomeUnknown"}) ||
		len(reports[1].Spec.Moves) != 0 || reports[1].NotMoved()["BackedOff"] == 0 {
		t.Errorf("got reports %+v; want the eviction of the killed process with an unknown outcome, and then no moves", reports)
	}
	if err := seed.WaitUntil(t.Context(), 30*time.Second, func() (bool, error) { return acceptedEvictions(t, ns) == 1, nil }); err != nil {
		t.Errorf("the eviction did not commit: %v", err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d evictions reached the webhook, want 1", n)
	}
}

// acceptedEvictions returns the number of evictions that the API server has accepted in a namespace. The dry runs of
// waitUntilDenied do not count.
func acceptedEvictions(t *testing.T, ns string) (n int) {
	t.Helper()
	events := must.Get(lab.Evictions(ns))(t)
	for _, e := range events {
		if e.ResponseStatus != nil && e.ResponseStatus.Code == 201 && e.UserAgent != dryRunUserAgent {
			n++
		}
	}
	return n
}

// kubeconfigThatFinishesEvictions returns a kubeconfig whose proxy sends each eviction to the end, even if its client
// is gone.
func kubeconfigThatFinishesEvictions(t *testing.T) string {
	t.Helper()
	transport := must.Get(rest.TransportFor(lab.Config))(t)
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
