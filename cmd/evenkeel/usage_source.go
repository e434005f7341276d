package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
	"github.com/evenkeel-project/evenkeel/usage/loadwatcher"
	"github.com/evenkeel-project/evenkeel/usage/metricsserver"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
)

// newUsageSource creates the usage source that a valid configuration selects.
func newUsageSource(conf *config.Config, rc *rest.Config) (usage.Source, error) {
	l := conf.Load
	source, err := usage.Source(nil), error(nil)
	switch l.Source {
	case config.SourceMetricsServer:
		source, err = metricsserver.New(rc,
			metricsserver.Options{Timeout: time.Duration(l.Timeout), MaxAge: time.Duration(l.MaxAge), Now: time.Now})
	case config.SourcePrometheus:
		source, err = newPrometheusSource(conf)
	case config.SourceLoadWatcher:
		source, err = newLoadWatcherSource(conf)
	default:
		err = fmt.Errorf("%s is not a source of usage", l.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("load.%s: %w", l.Source, err)
	}
	return source, nil
}

func newPrometheusSource(conf *config.Config) (usage.Source, error) {
	o, err := prometheusOptions(conf)
	if err != nil {
		return nil, err
	}
	return prometheus.New(o)
}

// prometheusOptions returns the options of the Prometheus source with a client that has the configured credentials.
func prometheusOptions(conf *config.Config) (prometheus.Options, error) {
	client, err := fetch.New(conf.PrometheusCredentials())
	o := conf.PrometheusOptions()
	o.Client, o.Now = client, time.Now
	return o, err
}

// firingAlerts returns a function that reads the firing alerts of evictor.breaker.prometheusAlerts, or nil if there are
// none. If the reader cannot be created, the function returns the error, so that nothing is evicted.
func firingAlerts(conf *config.Config) func(context.Context) ([]string, error) {
	patterns := conf.Evictor.Breaker.PrometheusAlerts
	if len(patterns) == 0 {
		return nil
	}
	o, err := prometheusOptions(conf)
	if err == nil {
		var alerts *prometheus.Alerts
		if alerts, err = prometheus.NewAlerts(o, patterns); err == nil {
			return alerts.Firing
		}
	}
	return func(context.Context) ([]string, error) { return nil, err }
}

func newLoadWatcherSource(conf *config.Config) (usage.Source, error) {
	l := conf.Load.LoadWatcher
	client, err := fetch.New(fetch.Options{TokenFile: l.TokenFile, CAFile: l.CAFile})
	if err != nil {
		return nil, err
	}
	return loadwatcher.New(loadwatcher.Options{URL: l.URL, Timeout: time.Duration(conf.Load.Timeout), MaxAge: time.Duration(conf.Load.MaxAge),
		Client: client, Now: time.Now})
}

// failingSource replaces a usage source that could not be created. Every sample returns the error of the creation.
type failingSource struct{ err error }

func (b failingSource) Sample(context.Context, []usage.Node) (usage.Sample, error) {
	return usage.Sample{}, b.err
}
