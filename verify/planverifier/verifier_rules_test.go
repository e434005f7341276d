package planverifier_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// verifierRules converts a configuration to rules of the verifier, field by field. It does
// not use the options of the planner.
func verifierRules(t testing.TB, c *config.Config) planverifier.Rules {
	t.Helper()
	g, l, f := c.Guards, c.Limits, c.Evictor.InFlight
	r := planverifier.Rules{
		NodeSelector: selector(t, c.NodeSelector), NamespaceSelector: selector(t, c.Namespaces.Selector), PodSelector: selector(t, g.PodSelector),
		Include: c.Namespaces.Include, Exclude: c.Namespaces.Exclude, Protect: map[string]bool{},
		ProtectedStorageClasses: g.ProtectedStorageClasses, Controllers: g.Controllers, MinReplicas: g.MinReplicas,
		MinPodAge: time.Duration(g.MinPodAge), SchedulerTimeout: time.Duration(g.SchedulerTimeout),
		PriorityBelow: g.PriorityBelow, NoEvictionMandatory: g.NoEvictionPolicy == "mandatory",
		MaxUnavailableWithoutPDB: g.MaxUnavailableWithoutPDB,
		PerPass:                  limit(t, l.PerPass.String()), PerNode: limit(t, l.PerNode.String()),
		PerNamespace: limit(t, l.PerNamespace.String()), PerOwner: limit(t, l.PerOwner.String()), PerZone: limit(t, l.PerZone.String()),
		PerHourOwner: limit(t, l.PerHour.Owner.String()), PerHourNamespace: limit(t, l.PerHour.Namespace.String()),
		PerHourCluster: limit(t, l.PerHour.Cluster.String()),
		InFlightTotal:  limit(t, f.Total.String()), InFlightPerNode: limit(t, f.PerNode.String()),
		InFlightPerWorkload: limit(t, f.PerOwner.String()),
	}
	for _, p := range g.Protect {
		r.Protect[p] = true
	}
	var err error
	if r.Location, err = time.LoadLocation(c.TimeZone); err != nil {
		t.Fatal(err)
	}
	r.Allow, r.Deny = windows(t, c.Windows.Allow, r.Location), windows(t, c.Windows.Deny, r.Location)
	r.MaxAge, r.MinCoverage = time.Duration(c.Load.MaxAge), c.Load.MinCoverage
	for _, s := range c.Strategies {
		var args struct {
			Basis  string
			Target map[string]float64
			For    int
		}
		if err := json.Unmarshal(s.Args, &args); s.Type == "NodeLoad" && args.Basis == "load" {
			if err != nil {
				t.Fatal(err)
			}
			for _, resource := range slices.Sorted(maps.Keys(args.Target)) {
				r.UsageStrategies = append(r.UsageStrategies, planverifier.UsageStrategy{Strategy: s.Name, Resource: resource,
					Target: args.Target[resource], For: args.For})
			}
		}
	}
	return r
}

func selector(t testing.TB, text string) labels.Selector {
	t.Helper()
	if text == "" {
		return nil
	}
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func limit(t testing.TB, text string) planverifier.Limit {
	t.Helper()
	if text == "unlimited" {
		return planverifier.Limit{Unlimited: true}
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return planverifier.Limit{N: n, Percent: percent}
}

func windows(t testing.TB, from []config.Window, loc *time.Location) []planverifier.Window {
	t.Helper()
	var out []planverifier.Window
	for _, w := range from {
		at := loc
		if w.TimeZone != "" {
			var err error
			if at, err = time.LoadLocation(w.TimeZone); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, planverifier.Window{Fields: w.Schedule, Length: time.Duration(w.Duration), Location: at})
	}
	return out
}
