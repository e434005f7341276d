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
	// CertificateFiles are those with which the program serves HTTPS.
	CertificateFiles FileKind = "certificate"
)

const unwatched = "files that the program does not watch; with `--once`"

var filesLabel = label{"files", "`config`, `credentials`, `certificate`"}

var (
	defReloads = definition{name: "evenkeel_reloads_total", kind: counter, unit: "changes",
		help:   "File changes that the program saw while it ran.",
		labels: []label{filesLabel, {"result", "`taken` (the new content is in effect), `refused` (it is invalid)"}}, absent: unwatched}
	defReloaded = definition{name: "evenkeel_last_reload_successful", kind: gauge, unit: "0 or 1",
		help: "1 if the newest content is in effect, 0 if it was refused.", labels: []label{filesLabel}, absent: unwatched}
	defLastReload = definition{name: "evenkeel_last_reload_success_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time of the last successful reload, or of the start of the program before the first reload.", labels: []label{filesLabel},
		absent: unwatched}
	defNotBefore = definition{name: "evenkeel_certificate_not_before_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time from which the certificate that the program serves is valid.", absent: withoutCertificate}
	defNotAfter = definition{name: "evenkeel_certificate_not_after_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time at which the certificate that the program serves expires.", absent: withoutCertificate}
)

const withoutCertificate = "without `--tls-cert-file`"

type reloadMetrics struct {
	total               *prometheus.CounterVec
	successful          *prometheus.GaugeVec
	lastSuccess         *prometheus.GaugeVec
	notBefore, notAfter *gauges
}

func newReloadMetrics(r prometheus.Registerer) *reloadMetrics {
	return &reloadMetrics{total: defReloads.newCounters(r), successful: defReloaded.newGauges(r).vec,
		lastSuccess: defLastReload.newGauges(r).vec, notBefore: defNotBefore.newGauges(r), notAfter: defNotAfter.newGauges(r)}
}

// WatchStarted records that the program watches these files from now on.
func (m *Metrics) WatchStarted(w FileKind, now time.Time) {
	m.reloads.successful.WithLabelValues(string(w)).Set(1)
	m.reloads.lastSuccess.WithLabelValues(string(w)).Set(float64(now.Unix()))
	m.reloads.total.WithLabelValues(string(w), "taken")
	m.reloads.total.WithLabelValues(string(w), "refused")
}

// RecordCertificate records from when until when the certificate that the program serves is valid.
func (m *Metrics) RecordCertificate(notBefore, notAfter time.Time) {
	m.reloads.notBefore.set(seconds(notBefore))
	m.reloads.notAfter.set(seconds(notAfter))
}

// ReloadSucceeded counts a reload whose content is now in effect.
func (m *Metrics) ReloadSucceeded(w FileKind, now time.Time) {
	m.WatchStarted(w, now)
	m.reloads.total.WithLabelValues(string(w), "taken").Inc()
}

// ReloadRefused counts a reload whose content is invalid. The program keeps the previous content.
func (m *Metrics) ReloadRefused(w FileKind) {
	m.reloads.total.WithLabelValues(string(w), "refused").Inc()
	m.reloads.successful.WithLabelValues(string(w)).Set(0)
}
