package config

// LoadSource says where usage comes from.
type LoadSource struct {
	Source string `json:"source"`
	// Interval is how often the source is asked.
	Interval      Duration      `json:"interval"`
	Statistic     string        `json:"statistic"`
	Window        Duration      `json:"window"`
	MaxAge        Duration      `json:"maxAge"`
	MinCoverage   float64       `json:"minCoverage"`
	MetricsServer MetricsServer `json:"metricsServer"`
	Prometheus    Prometheus    `json:"prometheus"`
	LoadWatcher   LoadWatcher   `json:"loadWatcher"`
}

// MetricsServer is the metrics API of the cluster.
type MetricsServer struct {
	Timeout Duration `json:"timeout"`
}

// Prometheus is a source of usage.
type Prometheus struct {
	URL    string `json:"url"`
	Preset string `json:"preset"`
	// RateWindow is what the preset takes rates over.
	RateWindow Duration `json:"rateWindow"`
	// Queries are of nodes, by resource; they replace the preset's or add to it.
	Queries map[string]string `json:"queries"`
	// PodQueries are of pods, for cpu and memory; an empty one asks nothing.
	PodQueries map[string]string `json:"podQueries"`
	// Freshness queries say when a node was measured, by the resource of the query
	// that they are about.
	Freshness          map[string]string `json:"freshness"`
	NodeLabel          string            `json:"nodeLabel"`
	Timeout            Duration          `json:"timeout"`
	TokenFile          string            `json:"tokenFile"`
	CAFile             string            `json:"caFile"`
	CertFile           string            `json:"certFile"`
	KeyFile            string            `json:"keyFile"`
	InsecureSkipVerify bool              `json:"insecureSkipVerify"`
}

// LoadWatcher is a source of usage.
type LoadWatcher struct {
	URL       string   `json:"url"`
	Timeout   Duration `json:"timeout"`
	TokenFile string   `json:"tokenFile"`
	CAFile    string   `json:"caFile"`
}
