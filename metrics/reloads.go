package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// FileKind names a group of files that the program reloads when they change.
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
		total: prometheus.NewCounterVec(
			prometheus.CounterOpts{
				Name: "evenkeel_reloads_total",
				Help: "File changes that the program saw while it ran, by result (taken: the new content is in effect, refused: it is invalid).",
			},
			[]string{"files", "result"},
		),
		successful: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{Name: "evenkeel_last_reload_successful", Help: "1 if the newest content is in effect, 0 if it was refused."},
			[]string{"files"},
		),
		lastSuccess: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "evenkeel_last_reload_success_timestamp_seconds",
				Help: "Unix time of the last successful reload, or of the start of the program before the first reload.",
			},
			[]string{"files"},
		),
	}
	r.MustRegister(l.total, l.successful, l.lastSuccess)
	return l
}

// WatchStarted records that the program watches these files from now on.
func (m *Metrics) WatchStarted(w FileKind, now time.Time) {
	m.reloads.successful.WithLabelValues(string(w)).Set(1)
	m.reloads.lastSuccess.WithLabelValues(string(w)).Set(float64(now.Unix()))
	m.reloads.total.WithLabelValues(string(w), "taken")
	m.reloads.total.WithLabelValues(string(w), "refused")
}

// ReloadSucceeded counts a reload whose content is now in effect.
func (m *Metrics) ReloadSucceeded(w FileKind, now time.Time) {
	m.WatchStarted(w, now)
	m.reloads.total.WithLabelValues(string(w), "taken").Inc()
}

// ReloadRefused counts a reload whose content is invalid. The program keeps the previous
// content.
func (m *Metrics) ReloadRefused(w FileKind) {
	m.reloads.total.WithLabelValues(string(w), "refused").Inc()
	m.reloads.successful.WithLabelValues(string(w)).Set(0)
}
