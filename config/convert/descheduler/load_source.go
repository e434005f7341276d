package descheduler

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"

	"github.com/evenkeel-project/evenkeel/config/convert"
)

// loadSource is the source of usage that the strategies need.
type loadSource struct {
	source  string            // metricsServer or prometheus; empty: none
	user    *strategy         // the first strategy that needs it
	queries map[string]string // of nodes, by resource
	order   []string          // of queries
	server  *prometheusServer
	preset  string // of queries; empty: none
}

// The paths under which the chart mounts the token for Prometheus.
const (
	tokenDirectory      = "/var/run/prometheus-token"
	tokenKey            = "prometheusAuthToken"
	serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"
)

// instanceLabel is the label of the result of a query that names the node.
const instanceLabel = "instance"

// metricResource is the one resource in thresholds of a Prometheus query.
const metricResource = "MetricResource"

// checkProviders checks metricsProviders and the older metricsCollector.
func (c *conversion) checkProviders() {
	seen := map[string]bool{}
	for i, p := range c.doc.policy.MetricsProviders {
		path := fmt.Sprintf("metricsProviders[%d]", i)
		switch {
		case seen[p.Source]:
			c.findings.fail(path+".source", "%s occurs twice, which the descheduler rejects", p.Source)
		case p.Source == prometheusMetrics:
			c.checkServer(path+".prometheus", p.Prometheus)
		case p.Source != kubernetesMetrics:
			c.findings.fail(path+".source", "%q is unknown (want %s or %s)", p.Source, kubernetesMetrics, prometheusMetrics)
		}
		seen[p.Source] = true
	}
	if m := c.doc.policy.MetricsCollector; m != nil && m.Enabled && seen[kubernetesMetrics] {
		c.findings.fail("metricsCollector", "is set together with metricsProviders, which the descheduler rejects")
	}
}

func (c *conversion) checkServer(path string, p *prometheusServer) {
	if p == nil || p.URL == "" {
		c.findings.fail(path, "has no url, which the descheduler rejects")
		return
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		c.findings.fail(path+".url", "%q is not a URL of a server (want one such as http://prometheus.monitoring:9090)", p.URL)
	}
	if p.AuthToken != nil && (p.AuthToken.SecretReference == nil || p.AuthToken.SecretReference.Name == "" || p.AuthToken.SecretReference.Namespace == "") {
		c.findings.fail(path+".authToken", "want secretReference with namespace and name; the descheduler rejects this, too")
	}
}

// useSource makes a source of usage that of the configuration. It returns false after an error.
func (c *conversion) useSource(s *strategy, source string) bool {
	if c.load.source != "" && c.load.source != source {
		s.fail("metricsUtilization.source", "another plugin (%s of profile %s) has another source, but load.source can be only one; "+
			"split the policy into two", c.load.user.plugin, c.load.user.profile.name)
		return false
	}
	if c.load.source == "" {
		c.load.source, c.load.user = source, s
	}
	return true
}

// convertQuery converts a plugin that compares the result of a Prometheus query.
func (a *lowNodeUtilizationArgs) convertQuery(s *strategy) {
	q := a.MetricsUtilization.Prometheus
	if q == nil || q.Query == "" {
		s.fail("metricsUtilization.prometheus.query", "is missing, which the descheduler rejects")
		return
	}
	if err := convert.CheckQuery(q.Query, instanceLabel); err != nil {
		s.fail("metricsUtilization.prometheus.query", "%v", err)
		return
	}
	if !s.c.useSource(s, "prometheus") {
		return
	}
	for _, p := range s.c.doc.policy.MetricsProviders {
		if p.Source == prometheusMetrics {
			s.c.load.server = p.Prometheus
		}
	}
	if s.c.load.server == nil {
		s.c.findings.fail(s.path+".metricsUtilization.source", "metricsProviders has no %s, which the descheduler needs, too", prometheusMetrics)
	}
	target, ok := a.TargetThresholds[metricResource]
	below, both := a.Thresholds[metricResource]
	if !ok || !both || len(a.TargetThresholds) != 1 || len(a.Thresholds) != 1 {
		s.fail("targetThresholds", "with a query, thresholds and targetThresholds must have the one key %s; the descheduler rejects others, too", metricResource)
		return
	}
	a.checkLevels(s, false)
	if a.EvictionLimits == nil || a.EvictionLimits.Node == nil {
		s.limitPerNode(1)
		s.note("evictionLimits.node", "with a query, the descheduler evicts one pod of each node in a run, if this is not set")
	}
	s.arg("basis", "load")
	if resource := resourceOfQuery(q.Query); resource != "" {
		a.convertUsageQuery(s, resource, q.Query, target, below)
		return
	}
	a.convertSignalQuery(s, q.Query, target)
}

// convertUsageQuery converts a query about the usage of cpu or memory, which the pods share.
func (a *lowNodeUtilizationArgs) convertUsageQuery(s *strategy, resource, query string, target, below float64) {
	l := &s.c.load
	if other, taken := l.queries[resource]; taken && other != query {
		s.fail("metricsUtilization.prometheus.query", "another plugin has another query for %s, but load.prometheus.queries can have only one", resource)
		return
	}
	l.addQuery(resource, query)
	a.addPercentages(s, map[string]float64{resource: target}, map[string]float64{resource: below})
	s.numberOfNodes(a.NumberOfNodes)
	s.note("metricsUtilization.prometheus.query", "taken for the usage of %s, a share of the capacity of the node; "+
		"check this. With preset: none, each pod counts with its share of the node's requests", resource)
}

// convertSignalQuery converts a query about the whole node, such as pressure. It selects the nodes,
// and the deviation of cpu selects the pods.
func (a *lowNodeUtilizationArgs) convertSignalQuery(s *strategy, query string, target float64) {
	if a.UseDeviationThresholds {
		s.fail("useDeviationThresholds", "the pods have no known part in the result of this query, and Evenkeel compares such a query "+
			"only with a fixed level (want useDeviationThresholds: false)")
		return
	}
	l := &s.c.load
	name := "query-of-" + s.name
	l.addQuery(name, query)
	l.preset = "nodeExporter"
	s.arg("when", flowMap([]yamlEntry{{name, fraction(target)}}))
	s.arg("deviation", flowFractions(map[string]float64{"cpu": 1}))
	s.note("metricsUtilization.prometheus.query", "selects the nodes (when). Pods have no known part in it, so those leave "+
		"that bring the use of cpu closer to the mean; choose another deviation or target if another resource is the cause")
	s.note("thresholds", "not kept: the replacements land on nodes with less use of cpu, whatever the query returns there")
	if a.NumberOfNodes > 0 {
		s.note("numberOfNodes", "not kept, because it counts the nodes below thresholds")
	}
}

func (l *loadSource) addQuery(name, query string) {
	if l.queries == nil {
		l.queries = map[string]string{}
	}
	if _, has := l.queries[name]; !has {
		l.order = append(l.order, name)
	}
	l.queries[name] = query
}

// noteLoadSource notes what differs for the sources of metrics. The document must have no errors.
func (c *conversion) noteLoadSource() {
	if m := c.doc.policy.MetricsCollector; m != nil && m.Enabled && c.load.source == "" {
		c.findings.note("load", Note{Field: "metricsCollector", Text: "not kept, because no plugin uses the metrics"})
	}
	for _, p := range c.doc.policy.MetricsProviders {
		used := p.Source == kubernetesMetrics && c.load.source == "metricsServer" || p.Source == prometheusMetrics && c.load.source == "prometheus"
		if !used {
			c.findings.note("load", Note{Field: "metricsProviders", Text: p.Source + " is not kept, because no plugin uses it"})
		}
	}
	if c.load.source == "metricsServer" {
		c.findings.note("load", Note{Field: "metricsUtilization.source", Text: "Evenkeel takes the mean of the samples of five minutes; " +
			"the descheduler weighs recent samples more"})
	}
	if s := c.load.server; s != nil && s.AuthToken != nil {
		c.findings.note("load", Note{Field: "metricsProviders.prometheus.authToken", Text: fmt.Sprintf("Evenkeel reads no secrets. Mount the key %s of the "+
			"secret %s (a copy in Evenkeel's namespace, now in %s) to %s; the converted values do so",
			tokenKey, s.AuthToken.SecretReference.Name, s.AuthToken.SecretReference.Namespace, tokenDirectory)})
	}
}

// writeLoad writes the key load of the configuration; only comments without a source.
func (w *writer) writeLoad() {
	l := &w.c.load
	if l.source == "" {
		w.sectionComments("load", "")
		return
	}
	w.printf("load:\n")
	w.sectionComments("load", "  ")
	w.printf("  source: %s\n  statistic: mean\n", l.source)
	if s := l.server; s != nil {
		token := serviceAccountToken
		if s.AuthToken != nil {
			token = tokenDirectory + "/" + tokenKey
		}
		w.printf("  prometheus:\n    url: %s\n    tokenFile: %s\n    preset: %s\n    queries:\n", strconv.Quote(s.URL), token, cmp.Or(l.preset, "none"))
		for _, name := range l.order {
			w.printf("      %s: %s\n", name, strconv.Quote(l.queries[name]))
		}
	}
}
