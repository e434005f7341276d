package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// gauges is a gauge with labels whose series are replaced together. A scrape never sees a moment without them.
type gauges struct {
	vec *prometheus.GaugeVec

	mu     sync.Mutex
	series map[string][]string // the values of the labels of each series
}

// sample is the value of one series.
type sample struct {
	value  float64
	labels []string
}

func newSample(value float64, labels ...string) sample { return sample{value, labels} }

const labelSeparator = "\xff" // no UTF-8 text contains it

// replace makes the samples the only series. The values of samples with equal labels are added.
func (g *gauges) replace(samples []sample) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sums, labels := map[string]float64{}, map[string][]string{}
	for _, s := range samples {
		key := strings.Join(s.labels, labelSeparator)
		sums[key], labels[key] = sums[key]+s.value, s.labels
	}
	for key, value := range sums {
		g.vec.WithLabelValues(labels[key]...).Set(value)
	}
	for key, old := range g.series {
		if _, stays := labels[key]; !stays {
			g.vec.DeleteLabelValues(old...)
		}
	}
	g.series = labels
}

// set makes one series without labels the only one.
func (g *gauges) set(value float64) { g.replace([]sample{{value: value}}) }

// clear removes all series.
func (g *gauges) clear() { g.replace(nil) }

// register adds a gauge without labels whose value is computed at each scrape. value reports false if it is unknown.
func (d *definition) register(r prometheus.Registerer, value func() (float64, bool)) {
	r.MustRegister(&computed{prometheus.NewDesc(d.name, d.help, nil, nil), value})
}

type computed struct {
	desc  *prometheus.Desc
	value func() (float64, bool)
}

// Describe implements prometheus.Collector.
func (c *computed) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect implements prometheus.Collector.
func (c *computed) Collect(to chan<- prometheus.Metric) {
	if value, known := c.value(); known {
		to <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
