package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// kind is the type of a metric.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// definition describes one metric. Every metric is created from a definition, and docs/reference/metrics.md is
// generated from the definitions.
type definition struct {
	name string
	kind kind
	// unit is what one stands for, such as seconds, pods or evictions.
	unit string
	// help says what the metric means. It is the text of # HELP, too.
	help   string
	labels []label
	// absent says when the metric, or one of its series, is absent. Empty means never.
	absent string
	// buckets are the upper bounds of a histogram.
	buckets []float64
}

// label is a label of a metric. values describes its values, whose number is always bounded.
type label struct{ name, values string }

func (d *definition) labelNames() []string {
	var out []string
	for _, l := range d.labels {
		out = append(out, l.name)
	}
	return out
}

func (d *definition) newGauge(r prometheus.Registerer) prometheus.Gauge {
	return promauto.With(r).NewGauge(prometheus.GaugeOpts{Name: d.name, Help: d.help})
}

func (d *definition) newGauges(r prometheus.Registerer) *gauges {
	return &gauges{vec: promauto.With(r).NewGaugeVec(prometheus.GaugeOpts{Name: d.name, Help: d.help}, d.labelNames())}
}

func (d *definition) newCounter(r prometheus.Registerer) prometheus.Counter {
	return promauto.With(r).NewCounter(prometheus.CounterOpts{Name: d.name, Help: d.help})
}

func (d *definition) newCounters(r prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(r).NewCounterVec(prometheus.CounterOpts{Name: d.name, Help: d.help}, d.labelNames())
}

func (d *definition) newHistogram(r prometheus.Registerer) prometheus.Histogram {
	return promauto.With(r).NewHistogram(prometheus.HistogramOpts{Name: d.name, Help: d.help, Buckets: d.buckets})
}

func (d *definition) newHistograms(r prometheus.Registerer) *prometheus.HistogramVec {
	return promauto.With(r).NewHistogramVec(prometheus.HistogramOpts{Name: d.name, Help: d.help, Buckets: d.buckets}, d.labelNames())
}

// passBuckets are upper bounds in seconds: 10 ms, and each further one is four times as long, up to 44 minutes.
var passBuckets = prometheus.ExponentialBuckets(0.01, 4, 10)
