package charttest

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUpgradeBetweenKinds upgrades a running Deployment to CronJobs and back. Each kind evicts, and the objects of the
// other kind go.
func TestUpgradeBetweenKinds(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-kinds")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	// Each kind knows the evictions of the one before. So new pods may be evicted at once only without a back-off.
	r.install(ctx, t, append(slices.Clone(automatic), "--set", "config.evictor.backoff=1ms")...)
	evict(ctx, t, r)
	r.checkKinds(ctx, t, 1, 0)

	r.upgrade(t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	r.checkKinds(ctx, t, 0, 1)
	seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "mode=live") {
		t.Errorf("the job did not make a live pass:\n%s", out)
	}
	waitForZones(ctx, t, "2/2/2")
	r.checkRequests(ctx, t, 4)

	r.upgrade(t, "--set", "kind=Deployment")
	r.checkKinds(ctx, t, 1, 0)
	seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	r.evictTriggered(ctx, t)
	r.checkRequests(ctx, t, 6)
	r.uninstall(ctx, t)
}

// checkKinds waits until the release has the numbers of Deployments and CronJobs, and no pods but those of Deployments.
func (r release) checkKinds(ctx context.Context, t *testing.T, deployments, cronJobs int) {
	t.Helper()
	eventually(ctx, t, "the objects of one kind", func() (bool, string) {
		d, err := r.client.AppsV1().Deployments(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		c, err := r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		p, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(d.Items) == deployments && len(c.Items) == cronJobs && len(p.Items) == deployments, ""
	})
}
