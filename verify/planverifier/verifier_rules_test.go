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
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/placeless"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// verifierRules converts a configuration to rules of the verifier, field by field. verifierRules does not use the
// options of the planner.
func verifierRules(t testing.TB, c *config.Config) planverifier.Rules {
	t.Helper()
	g, l, f := c.Guards, c.Limits, c.Evictor.InFlight
	r := planverifier.Rules{
		NodeSelector: parseSelector(t, c.NodeSelector), VirtualNodeSelector: parseSelector(t, c.VirtualNodeSelector), NamespaceSelector: parseSelector(t, c.Namespaces.Selector),
		PodSelector: parseSelector(t, g.PodSelector),
		Include:     c.Namespaces.Include, Exclude: c.Namespaces.Exclude, Trusted: c.TrustedNamespaces, Protect: map[string]bool{},
		SafeLocalVolumes: g.SafeLocalVolumes, ProtectedStorageClasses: g.ProtectedStorageClasses, Controllers: g.Controllers, Groups: g.Groups, GroupKeys: g.GroupKeys, MinReplicas: g.MinReplicas,
		MaxGracePeriod: time.Duration(g.MaxGracePeriod), GracePeriodSeconds: c.Evictor.GracePeriodSeconds,
		MinPodAge:     time.Duration(g.MinPodAge),
		PriorityBelow: g.PriorityBelow, NoEvictionMandatory: g.NoEvictionPolicy == "mandatory", DisplaceAcrossNamespaces: g.DisplaceAcrossNamespaces,
		NewArchitectures: c.Placement.NewArchitectures, NodeMarks: targets.Marks{"starting": c.Placement.NodeMarks.Starting,
			"outgoing": c.Placement.NodeMarks.Outgoing, "draining": c.Placement.NodeMarks.Draining, "unhealthy": c.Placement.NodeMarks.Unhealthy},
		MaxUnavailableWithoutPDB: g.MaxUnavailableWithoutPDB,
		PerPass:                  parseLimit(t, l.PerPass.String()), PerNode: parseLimit(t, l.PerNode.String()),
		PerNamespace: parseLimit(t, l.PerNamespace.String()), PerOwner: parseLimit(t, l.PerOwner.String()),
		PerZone:      parseLimit(t, l.PerZone.String()),
		PerHourOwner: parseLimit(t, l.PerHour.Owner.String()), PerHourNamespace: parseLimit(t, l.PerHour.Namespace.String()),
		PerHourCluster: parseLimit(t, l.PerHour.Cluster.String()),
		InFlightTotal:  parseLimit(t, f.Total.String()), InFlightPerNode: parseLimit(t, f.PerNode.String()),
		InFlightPerWorkload: parseLimit(t, f.PerOwner.String()),
	}
	for _, b := range g.BlockingPods {
		r.BlockingPods = append(r.BlockingPods, planverifier.PodSelector{Selector: parseSelector(t, b.Selector), Namespace: b.Namespace})
	}
	for _, p := range g.Protect {
		r.Protect[p] = true
	}
	var err error
	if r.Location, err = time.LoadLocation(c.TimeZone); err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Windows.Allow {
		r.Allow = append(r.Allow, toWindows(t, []config.Window{{Schedule: w.Schedule, Duration: w.Duration, TimeZone: w.TimeZone}}, r.Location)...)
	}
	r.Deny = toWindows(t, c.Windows.Deny, r.Location)
	r.WindowLimits = toWindowLimits(t, c.Windows.Allow)
	r.MaxAge, r.MinCoverage = time.Duration(c.Load.MaxAge), c.Load.MinCoverage
	r.Landing = placeless.Rules{MaxPending: parseLimit(t, c.Evictor.Breaker.MaxPendingPods.String()).N, MinConfidence: g.MinConfidence}
	for _, s := range c.Strategies {
		if s.Landing == "notRequired" && !slices.Contains([]string{"NodeLoad", "NodeConsolidation", "ZoneSpread", "TopologySpread"}, s.Type) {
			r.Landing.Strategies = append(r.Landing.Strategies, s.Name)
		}
		var args struct {
			Basis  string
			Target map[string]float64
			For    int
			When   map[string]float64
		}
		if err := json.Unmarshal(s.Args, &args); s.Type == "NodeLoad" && args.Basis == "load" {
			if err != nil {
				t.Fatal(err)
			}
			for _, resource := range slices.Sorted(maps.Keys(args.Target)) {
				r.UsageStrategies = append(r.UsageStrategies, planverifier.UsageStrategy{Strategy: s.Name, Resource: resource,
					Target: args.Target[resource], For: args.For, When: args.When})
			}
		}
	}
	return r
}

// toWindowLimits returns the limits of windows by index. A limit that is not set is unlimited.
func toWindowLimits(t testing.TB, from []config.AllowWindow) map[int]planverifier.WindowLimits {
	t.Helper()
	limit := func(n *plan.CountLimit) planverifier.Limit {
		if n == nil {
			return planverifier.Limit{Unlimited: true}
		}
		return parseLimit(t, n.String())
	}
	out := map[int]planverifier.WindowLimits{}
	for i, w := range from {
		if w.Limits == nil {
			continue
		}
		var hour plan.OwnPerHour
		if w.Limits.PerHour != nil {
			hour = *w.Limits.PerHour
		}
		out[i] = planverifier.WindowLimits{PerPass: limit(w.Limits.PerPass), PerOwner: limit(w.Limits.PerOwner),
			PerNode: limit(nil), PerNamespace: limit(nil), PerZone: limit(nil), PerHourNamespace: limit(nil),
			PerHourOwner: limit(hour.Owner), PerHourCluster: limit(hour.Cluster)}
	}
	return out
}

func parseSelector(t testing.TB, text string) labels.Selector {
	t.Helper()
	if text == "" {
		return nil
	}
	s := must.Get(labels.Parse(text))(t)
	return s
}

func parseLimit(t testing.TB, text string) planverifier.Limit {
	t.Helper()
	if text == "unlimited" {
		return planverifier.Limit{Unlimited: true}
	}
	number, percent := strings.CutSuffix(text, "%")
	n := must.Get(strconv.Atoi(number))(t)
	return planverifier.Limit{N: n, Percent: percent}
}

func toWindows(t testing.TB, from []config.Window, loc *time.Location) []windows.Window {
	t.Helper()
	var out []windows.Window
	for _, w := range from {
		at := loc
		if w.TimeZone != "" {
			var err error
			if at, err = time.LoadLocation(w.TimeZone); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, windows.Window{Fields: w.Schedule, Length: time.Duration(w.Duration), Location: at})
	}
	return out
}
