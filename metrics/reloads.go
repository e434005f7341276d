package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Watched is a kind of files that are taken over when they change.
type Watched string

const (
	ConfigFiles     Watched = "config"
	CredentialFiles Watched = "credentials"
)

type reloads struct {
	total   *prometheus.CounterVec
	good    *prometheus.GaugeVec
	success *prometheus.GaugeVec
}

func newReloads(r *prometheus.Registry) *reloads {
	l := &reloads{
		total:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_reloads_total", Help: "Contents that changed while the program ran, by what became of them (taken, refused)."}, []string{"files", "result"}),
		good:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_last_reload_successful", Help: "1 while the newest content is in effect, 0 while it is refused."}, []string{"files"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_last_reload_success_timestamp_seconds", Help: "When content was taken over last; when the program began, before that."}, []string{"files"}),
	}
	r.MustRegister(l.total, l.good, l.success)
	return l
}

// Watching notes that files are watched from now on.
func (m *Metrics) Watching(w Watched, now time.Time) {
	m.reloads.good.WithLabelValues(string(w)).Set(1)
	m.reloads.success.WithLabelValues(string(w)).Set(float64(now.Unix()))
	m.reloads.total.WithLabelValues(string(w), "taken")
	m.reloads.total.WithLabelValues(string(w), "refused")
}

// Reloaded counts content that was taken over.
func (m *Metrics) Reloaded(w Watched, now time.Time) {
	m.Watching(w, now)
	m.reloads.total.WithLabelValues(string(w), "taken").Inc()
}

// Refused counts content that could not be taken over.
func (m *Metrics) Refused(w Watched) {
	m.reloads.total.WithLabelValues(string(w), "refused").Inc()
	m.reloads.good.WithLabelValues(string(w)).Set(0)
}
