package charttest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTwoReleases installs two releases that may evict in two namespaces. The second evicts nothing and names the
// first, until the first is uninstalled.
func TestTwoReleases(t *testing.T) {
	ctx := t.Context()
	first, second := newRunningRelease("first", "ek-first"), newRunningRelease("second", "ek-second")
	seedThreeZones(ctx, t, first.client, [3]int{1, 1, 4})
	applyCRDs(t, first) // both need them until they are uninstalled
	first.install(ctx, t, append(automatic, "--set", "crds.install=false")...)
	var lease metav1.Time
	eventually(ctx, t, "the Lease of the first release", func() (bool, string) {
		found, err := first.client.CoordinationV1().Leases(first.namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		lease = found.CreationTimestamp
		return time.Since(lease.Time) > time.Second, "it is too young" // the API server stores whole seconds
	})
	second.install(ctx, t, append(automatic, "--set", "kind=CronJob", "--set", "cronJob.suspend=true", "--set", "crds.install=false")...)
	out := second.runFailingJob(ctx, t, "zones")
	if want := "OtherReleaseActive: the older release in namespace ek-first may evict in this cluster"; !strings.Contains(out, want) {
		t.Errorf("the second release does not say %q:\n%s", want, out)
	}
	second.checkRequests(ctx, t, 0)
	first.waitForLog(ctx, t, "leads=true")
	first.runAsAdministrator(ctx, t, "trigger", "zones")
	waitForZones(ctx, t, "2/2/2")
	first.checkRequests(ctx, t, 2)
	first.uninstall(ctx, t)
	seedAgain(ctx, t, first.client, [3]int{1, 1, 4})
	eventually(ctx, t, "no process to hold the Lease of the first release", func() (bool, string) {
		found, err := first.client.CoordinationV1().Leases(first.namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, ""
		}
		// A process that ended without permission to release its Lease counts as its holder for 15 seconds.
		return err == nil && time.Since(found.Spec.RenewTime.Time) > 15*time.Second, fmt.Sprint(found.Spec, err)
	})
	second.runJob(ctx, t, "zones")
	waitForZones(ctx, t, "2/2/2")
	second.checkRequests(ctx, t, 2)
	second.uninstall(ctx, t)
}
