package e2e

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestAPauseBetweenPassesIsSeen checks that the metric follows a pause although no pass runs, and that the pause leaves
// an event when it begins and one when it ends.
func TestAPauseBetweenPassesIsSeen(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{2, 2, 2}, 30))
	port := freePort(t)
	startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, rareSchedule), ns, port)
	url := "http://" + port
	waitForMetric(t, url, "evenkeel_paused 0")
	waitForMetric(t, url, "evenkeel_breaker_open 0")
	if r := runEvenkeel(t, "pause", "--reason", "release 42", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("pause: exit %d", r.code)
	}
	waitForMetric(t, url, "evenkeel_paused 1")
	if r := runEvenkeel(t, "resume", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("resume: exit %d", r.code)
	}
	waitForMetric(t, url, "evenkeel_paused 0")
	for _, reason := range []string{"Paused", "Resumed"} {
		waitForLeaseEvent(t, ns, reason)
	}
	if !hasLine(metricsOf(url), `evenkeel_passes_total{mode="live",stopped="none"} 0`) {
		t.Error("a pass ran, so the test proves nothing")
	}
}

// waitForLeaseEvent waits for an event on the Lease evenkeel.
func waitForLeaseEvent(t *testing.T, ns, reason string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		list, err := lab.Client.EventsV1().Events(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.Regarding.Kind == "Lease" && e.Regarding.Name == "evenkeel" && e.Reason == reason {
				return true, nil
			}
		}
		return false, fmt.Errorf("the Lease has no event %s", reason)
	}))
}
