package metrics

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/controller/notify"
)

var defNotifications = definition{name: "evenkeel_notifications_total", kind: counter, unit: "messages",
	help: "Notifications by receiver and result.",
	labels: []label{{"receiver", "names of the configuration"}, {"result", "`sent`, `failed` (no attempt succeeded), `dropped` " +
		"(newer ones filled the queue), `rateLimited` (too many about one event)"}}, absent: "without [receivers](notifications.md)"}

// notificationMetrics has counters of the configured receivers only, so their number is bounded.
type notificationMetrics struct {
	total *prometheus.CounterVec

	mu        sync.Mutex
	receivers []string
}

func newNotificationMetrics(r prometheus.Registerer) *notificationMetrics {
	return &notificationMetrics{total: defNotifications.newCounters(r)}
}

// SetReceivers adds the counters of the given receivers, and removes those of all others.
func (m *Metrics) SetReceivers(names []string) {
	n := m.notifications
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range n.receivers {
		if !slices.Contains(names, name) {
			n.total.DeletePartialMatch(prometheus.Labels{"receiver": name})
		}
	}
	n.receivers = slices.Clone(names)
	for _, name := range names {
		for _, result := range notify.Results() {
			n.total.WithLabelValues(name, string(result))
		}
	}
}

// RecordNotification counts a notification for a receiver. It ignores a receiver that was removed.
func (m *Metrics) RecordNotification(receiver string, result notify.Result) {
	n := m.notifications
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.Contains(n.receivers, receiver) {
		n.total.WithLabelValues(receiver, string(result)).Inc()
	}
}
