package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// FileKind is a kind of files that are taken over when they change.
type FileKind string

const (
	ConfigFiles     FileKind = "config"
	CredentialFiles FileKind = "credentials"
)

type reloadMetrics struct {
	total       *prometheus.CounterVec
	successful  *prometheus.GaugeVec
	lastSuccess *prometheus.GaugeVec
}

func newReloadMetrics(r *prometheus.Registry) *reloadMetrics {
	l := &reloadMetrics{
		total:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_reloads_total", Help: "Contents that changed while the program ran, by what became of them (taken, refused)."}, []string{"files", "result"}),
		successful:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_last_reload_successful", Help: "1 while the newest content is in effect, 0 while it is refused."}, []string{"files"}),
		lastSuccess: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_last_reload_success_timestamp_seconds", Help: "When content was taken over last; when the program began, before that."}, []string{"files"}),
	}
	r.MustRegister(l.total, l.successful, l.lastSuccess)
	return l
}

// WatchStarted notes that files are watched from now on.
func (m *Metrics) WatchStarted(w FileKind, now time.Time) {
	m.reloads.successful.WithLabelValues(string(w)).Set(1)
	m.reloads.lastSuccess.WithLabelValues(string(w)).Set(float64(now.Unix()))
	m.reloads.total.WithLabelValues(string(w), "taken")
	m.reloads.total.WithLabelValues(string(w), "refused")
}

// ReloadSucceeded counts content that was taken over.
func (m *Metrics) ReloadSucceeded(w FileKind, now time.Time) {
	m.WatchStarted(w, now)
	m.reloads.total.WithLabelValues(string(w), "taken").Inc()
}

// ReloadRefused counts content that could not be taken over.
func (m *Metrics) ReloadRefused(w FileKind) {
	m.reloads.total.WithLabelValues(string(w), "refused").Inc()
	m.reloads.successful.WithLabelValues(string(w)).Set(0)
}
