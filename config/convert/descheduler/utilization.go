package descheduler

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// manyNodes stands for no limit.
const manyNodes = "1000"

func (a *highNodeUtilizationArgs) convert(s *strategy) {
	s.checkThresholds("thresholds", a.Thresholds, true)
	s.evictableNamespaces(a.EvictableNamespaces)
	s.arg("below", flowFractions(a.Thresholds))
	target := map[string]float64{}
	for r, v := range a.Thresholds {
		if v < 100 {
			target[r] = 100
		}
	}
	s.argIf(len(target) > 0, "target", flowFractions(target))
	s.arg("maxNodes", manyNodes)
	s.numberOfNodes(a.NumberOfNodes)
	for i, m := range a.EvictionModes {
		field := "evictionModes[" + strconv.Itoa(i) + "]"
		if m != "OnlyThresholdingResources" {
			s.fail(field, "%q is unknown (want OnlyThresholdingResources)", m)
			continue
		}
		s.note("evictionModes", "no counterpart for OnlyThresholdingResources: a node is emptied as a whole, or not at all")
	}
	s.note("", "a node is emptied only if all its pods are predicted to land elsewhere. Evenkeel's default for maxNodes is 5")
}

func (s *strategy) numberOfNodes(n int) {
	s.c.findings.checkNotNegative(s.path+".numberOfNodes", n)
	s.arg("numberOfNodes", strconv.Itoa(n))
}

// checkThresholds checks percentages by resource.
func (s *strategy) checkThresholds(field string, percentages map[string]float64, byRequests bool) {
	if len(percentages) == 0 {
		s.fail(field, "is missing, which the descheduler rejects (want percentages by resource, such as cpu: 20)")
	}
	for _, r := range slices.Sorted(maps.Keys(percentages)) {
		v := percentages[r]
		if !(v >= 0 && v <= 100) {
			s.fail(field+"."+r, "%v is out of range, which the descheduler rejects (want 0 to 100)", v)
		}
		switch {
		case v == 0:
			s.note(field+"."+r, "0 has no counterpart; the smallest value, 0.01%%, is used instead")
		case v > 0 && v < 1:
			number := strict.FormatNumber(v)
			s.note(field+"."+r, "%s means %s %%; did you mean %s?", number, number, strict.FormatNumber(math.Round(v*1e6)/1e4))
		}
		if byRequests {
			for _, e := range arg.Resource(field+"."+r, r) {
				s.fail(e.Path, "%s", e.Message)
			}
		}
	}
}

func (a *lowNodeUtilizationArgs) convert(s *strategy) {
	s.evictableNamespaces(a.EvictableNamespaces)
	if l := a.EvictionLimits; l != nil && l.Node != nil {
		s.c.findings.checkNotNegative(s.path+".evictionLimits.node", *l.Node)
		s.limitPerNode(*l.Node)
	}
	m := a.MetricsUtilization
	switch {
	case m == nil:
		a.convertRequests(s)
	case m.Source == prometheusMetrics:
		a.convertQuery(s)
	case m.Source == kubernetesMetrics || m.Source == "" && m.MetricsServer:
		a.checkMetricsServer(s)
		a.convertUsage(s)
	case m.Source == "":
		s.note("metricsUtilization", "names no source, so the descheduler and Evenkeel look at requests")
		a.convertRequests(s)
	default:
		s.fail("metricsUtilization.source", "%q is unknown (want %s or %s)", m.Source, kubernetesMetrics, prometheusMetrics)
	}
}

func (a *lowNodeUtilizationArgs) checkMetricsServer(s *strategy) {
	if m := a.MetricsUtilization; m.Source == kubernetesMetrics && (m.MetricsServer || m.Prometheus != nil) {
		s.fail("metricsUtilization", "metricsServer or prometheus is set together with source %s, which the descheduler rejects", kubernetesMetrics)
	}
}

// checkLevels checks that both maps have the same resources.
func (a *lowNodeUtilizationArgs) checkLevels(s *strategy, byRequests bool) {
	s.checkThresholds("thresholds", a.Thresholds, byRequests)
	s.checkThresholds("targetThresholds", a.TargetThresholds, byRequests)
	for _, r := range slices.Sorted(maps.Keys(a.Thresholds)) {
		target, ok := a.TargetThresholds[r]
		switch {
		case !ok:
			s.fail("targetThresholds", "has no %s, but thresholds has; the descheduler rejects this, too", r)
		case a.Thresholds[r] > target && !a.UseDeviationThresholds:
			s.fail("thresholds."+r, "is above targetThresholds.%s, which the descheduler rejects", r)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(a.TargetThresholds)) {
		if _, ok := a.Thresholds[r]; !ok {
			s.fail("thresholds", "has no %s, but targetThresholds has; the descheduler rejects this, too", r)
		}
	}
}

// convertRequests converts thresholds for the requests of pods.
func (a *lowNodeUtilizationArgs) convertRequests(s *strategy) {
	a.checkLevels(s, true)
	a.addLevels(s, "requests", slices.Sorted(maps.Keys(a.TargetThresholds)))
}

// convertUsage converts thresholds for the usage from the metrics server. The number of pods needs no
// measurement.
func (a *lowNodeUtilizationArgs) convertUsage(s *strategy) {
	a.checkLevels(s, false)
	basis := "requests"
	resources := slices.Sorted(maps.Keys(a.TargetThresholds))
	for _, r := range resources {
		switch r {
		case "cpu", "memory":
			basis = "load"
		case "pods":
		default:
			s.fail("targetThresholds."+r, "the metrics server measures only cpu and memory, so the descheduler fails with this, too")
		}
	}
	if basis == "load" {
		s.c.useSource(s, "metricsServer")
	}
	a.addLevels(s, basis, resources)
}

// addLevels adds the arguments of NodeLoad for some of the resources.
func (a *lowNodeUtilizationArgs) addLevels(s *strategy, basis string, resources []string) {
	target, below := map[string]float64{}, map[string]float64{}
	for _, r := range resources {
		target[r], below[r] = a.TargetThresholds[r], a.Thresholds[r]
	}
	s.arg("basis", basis)
	a.addPercentages(s, target, below)
	s.numberOfNodes(a.NumberOfNodes)
}

func (a *lowNodeUtilizationArgs) addPercentages(s *strategy, target, below map[string]float64) {
	if !a.UseDeviationThresholds {
		s.arg("target", flowFractions(target))
		s.arg("below", flowFractions(below))
		return
	}
	s.arg("deviation", flowFractions(target))
	s.arg("belowMean", flowFractions(below))
	s.note("useDeviationThresholds", "the mean of Evenkeel is the total divided by the total allocatable, so large nodes weigh more; "+
		"the descheduler takes the mean of the shares")
}

// noteTargets says at each strategy that replaces LowNodeUtilization how it limits the other strategies.
func (c *conversion) noteTargets() {
	if len(c.strategies) < 2 {
		return
	}
	for _, s := range c.strategies {
		if s.kind != "NodeLoad" {
			continue
		}
		level := "target"
		if slices.ContainsFunc(s.args, func(a yamlEntry) bool { return a.key == "deviation" }) {
			level = "the mean plus deviation"
		}
		s.note("", "moves for the other strategies must not bring a node above %s, even while no node is under-utilized; "+
			"the descheduler's plugins do not look at each other. With soft: true, this strategy gives way", level)
	}
}

// resourceOfQuery guesses which resource a query measures. It returns "" for others, such as pressure.
func resourceOfQuery(query string) string {
	text := strings.ToLower(query)
	for _, other := range []string{"pressure", "psi", "stall", "waiting", "load1", "load5", "throttl", "disk", "network"} {
		if strings.Contains(text, other) {
			return ""
		}
	}
	cpu, memory := strings.Contains(text, "cpu"), strings.Contains(text, "mem")
	switch {
	case cpu && !memory:
		return "cpu"
	case memory && !cpu:
		return "memory"
	}
	return ""
}
