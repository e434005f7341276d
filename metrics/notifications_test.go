package metrics_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/metrics"
)

// TestNotificationsOfConfiguredReceivers checks that only configured receivers have counters, so that changed
// configurations do not add to them.
func TestNotificationsOfConfiguredReceivers(t *testing.T) {
	m := metrics.New("v1", "h")
	m.SetReceivers([]string{"old", "ops"})
	m.RecordNotification("ops", notify.Sent)
	m.SetReceivers([]string{"ops"})
	m.RecordNotification("old", notify.Failed) // it was being sent
	compare(t, m, `
evenkeel_notifications_total{receiver="ops",result="dropped"} 0
evenkeel_notifications_total{receiver="ops",result="failed"} 0
evenkeel_notifications_total{receiver="ops",result="rateLimited"} 0
evenkeel_notifications_total{receiver="ops",result="sent"} 1
`)
}
