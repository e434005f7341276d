package main

import (
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
			metricsserver.Options{Timeout: time.Duration(l.MetricsServer.Timeout), MaxAge: time.Duration(l.MaxAge), Now: time.Now})
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
	p := conf.Load.Prometheus
	client, err := fetch.New(fetch.Options{TokenFile: p.TokenFile, CAFile: p.CAFile, CertFile: p.CertFile, KeyFile: p.KeyFile,
		InsecureSkipVerify: p.InsecureSkipVerify})
	if err != nil {
		return nil, err
	}
	o := conf.PrometheusOptions()
	o.Client, o.Now = client, time.Now
	return prometheus.New(o)
}

func newLoadWatcherSource(conf *config.Config) (usage.Source, error) {
	l := conf.Load.LoadWatcher
	client, err := fetch.New(fetch.Options{TokenFile: l.TokenFile, CAFile: l.CAFile})
	if err != nil {
		return nil, err
	}
	return loadwatcher.New(loadwatcher.Options{URL: l.URL, Timeout: time.Duration(l.Timeout), MaxAge: time.Duration(conf.Load.MaxAge),
		Client: client, Now: time.Now})
}
