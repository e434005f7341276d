package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// TestNotificationsOfConfiguredReceivers checks that only configured receivers have counters, so that changed
// configurations do not add to them.
func TestNotificationsOfConfiguredReceivers(t *testing.T) {
	m := metrics.New("v", "h")
	m.SetReceivers([]string{"old", "ops"})
	m.RecordNotification("ops", notify.Sent)
	m.SetReceivers([]string{"ops"})
	m.RecordNotification("old", notify.Failed) // it was being sent
	const want = `
# HELP evenkeel_notifications_total Notifications by receiver (names of the configuration) and result: sent, failed (no attempt succeeded), dropped (newer ones filled the queue), rateLimited (too many about one event).
# TYPE evenkeel_notifications_total counter
evenkeel_notifications_total{receiver="ops",result="dropped"} 0
evenkeel_notifications_total{receiver="ops",result="failed"} 0
evenkeel_notifications_total{receiver="ops",result="rateLimited"} 0
evenkeel_notifications_total{receiver="ops",result="sent"} 1
`
	if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(want), "evenkeel_notifications_total"); err != nil {
		t.Error(err)
	}
}
