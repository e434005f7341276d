package metrics

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

// TestReferenceIsUpToDate compares docs/reference/metrics.md with the definitions. The flag -update writes it.
func TestReferenceIsUpToDate(t *testing.T) {
	golden.Equal(t, "../docs/reference/metrics.md", []byte(reference()))
}

// withEverything returns metrics in which every metric has a series.
func withEverything() *Metrics {
	m := New("v1", "hash")
	c := newClientMetrics(m.Registry, m.forbidden)
	c.Increment(context.Background(), "200", "GET", "host")
	c.IncrementRetry(context.Background(), "429", "GET", "host")
	c.Observe(context.Background(), "GET", url.URL{}, time.Second)
	c.leader.On("evenkeel")
	c.leader.SlowpathExercised("evenkeel")
	m.SetStrategies([]string{"zones"})
	m.SetLeading(true)
	m.RecordPause(false, true)
	m.RecordState(false, nil)
	m.RecordOtherDeschedulers(0)
	m.WatchViewAge(func() (time.Duration, bool) { return time.Second, true })
	m.RecordNextPasses(map[string]time.Time{"zones": time.Unix(1, 0)})
	m.WatchStarted(ConfigFiles, time.Unix(1, 0))
	m.RecordCertificate(time.Unix(1, 0), time.Unix(2, 0))
	m.SetReceivers([]string{"ops"})
	m.RecordNotification("ops", notify.Sent)
	m.RecordHints(reconciler.Counts{ByRule: map[string]int{"cpu": 1}})
	m.RecordBinding("default-scheduler", plan.SchedulerBindings{Seen: 1, Predicted: 1, Hits: 1}, 1, true, true)
	m.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9}).RecordAttempt(monitor.Attempt{SampledAt: time.Unix(1, 0), Problems: []usage.Problem{{Kind: usage.Missing}}})
	even := &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals}}}
	nodes := []plan.NodeState{{Name: "n1", Zone: "a"}, {Name: "n2", Zone: "b"}}
	m.RecordPass(plan.RunReport{Mode: plan.Live, Plan: plan.Plan{
		Strategies: []plan.StrategyState{{Name: "zones", Mode: plan.Approve}},
		Before:     plan.State{Nodes: nodes, Balance: even}, After: plan.State{Nodes: nodes, Balance: even},
		Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 1}},
		LimitUse:   []plan.LimitUse{{Limit: "limits.perPass", Share: 1}},
	}})
	return m
}

// TestEveryMetricIsInTheReference compares the metrics of a registry in which every metric has a series with the
// definitions: the same names, types, help texts and labels.
func TestEveryMetricIsInTheReference(t *testing.T) {
	families := must.Get(withEverything().Registry.Gather())(t)
	gathered := map[string]int{} // index in families
	for i, f := range families {
		if !strings.HasPrefix(f.GetName(), "go_") && !strings.HasPrefix(f.GetName(), "process_") {
			gathered[f.GetName()] = i
		}
	}
	for _, s := range catalog {
		for _, d := range s.metrics {
			i, found := gathered[d.name]
			if !found {
				t.Errorf("%s is in the reference, but has no series", d.name)
				continue
			}
			f := families[i]
			delete(gathered, d.name)
			if got := strings.ToLower(f.GetType().String()); got != string(d.kind) || f.GetHelp() != d.help {
				t.Errorf("%s is a %s with the help %q", d.name, got, f.GetHelp())
			}
			var labels []string
			for _, l := range f.GetMetric()[0].GetLabel() {
				labels = append(labels, l.GetName())
			}
			if want := slices.Sorted(slices.Values(d.labelNames())); !slices.Equal(labels, want) {
				t.Errorf("%s has the labels %q, the reference says %q", d.name, labels, want)
			}
		}
	}
	for name := range gathered {
		t.Errorf("%s is not in the reference", name)
	}
}

// TestNamesFollowTheConventions lints every metric with the rules of Prometheus.
func TestNamesFollowTheConventions(t *testing.T) {
	problems, err := testutil.GatherAndLint(withEverything().Registry)
	if err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	for _, s := range catalog {
		for _, d := range s.metrics {
			if d.unit == "" || !strings.HasSuffix(d.help, ".") {
				t.Errorf("%s: want a unit, and a help text that ends with a full stop", d.name)
			}
		}
	}
}
