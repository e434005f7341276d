package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// The least and the greatest weight of a strategy. Reports round weighted shares to four digits.
const (
	minWeight = 0.01
	maxWeight = 100
)

// checkStrategyRules checks the scope, the limits, the guards and the weight of a strategy.
func checkStrategyRules(c *Config, d *strict.Decoder, path string, s Strategy) {
	checkSelector(d, path+".nodeSelector", s.NodeSelector)
	checkSelector(d, path+".podSelector", s.PodSelector)
	checkStrategyNamespaces(c, d, path+".namespaces", s.Namespaces)
	if s.Limits != nil {
		checkPerHour(d, path+".limits.perHour", s.Limits.PerHour, "0 would prevent every move for this strategy (want 1 or more, or unlimited)")
	}
	if s.Guards != nil {
		checkStrategyGuards(c, d, path+".guards", *s.Guards)
	}
	checkLanding(d, path, s)
	if w := s.Weight; w != nil && !(*w >= minWeight && *w <= maxWeight) {
		d.Errorf(path+".weight", "%s is out of range (want %v to %v; 1 is the default)", strconv.FormatFloat(*w, 'g', -1, 64), minWeight, maxWeight)
	}
}

// checkLanding rejects notRequired for strategies whose goals depend on the node of the replacement.
func checkLanding(d *strict.Decoder, path string, s Strategy) {
	if s.Landing == "" {
		return
	}
	known := d.CheckOneOf(path+".landing", "landing", string(s.Landing), toStrings(plan.LandingRules()))
	if known && s.Landing == plan.LandingNotRequired && slices.Contains(strategies.Types(), s.Type) && !strategies.Lookup(s.Type).LandingOptional {
		d.Errorf(path+".landing", "notRequired is not possible for %s: a move helps only on a node that suits its goal (want required)", s.Type)
	}
}

// checkStrategyNamespaces checks the names, and that the strategy includes no namespace that the global key excludes.
func checkStrategyNamespaces(c *Config, d *strict.Decoder, path string, n *plan.NamespaceScope) {
	if n == nil {
		return
	}
	checkSelector(d, path+".selector", n.Selector)
	for _, list := range [...]struct {
		key   string
		names []string
	}{{"include", n.Include}, {"exclude", n.Exclude}} {
		for i, name := range list.names {
			if !cluster.ValidNamespaces(name) {
				d.Errorf(fmt.Sprintf("%s.%s[%d]", path, list.key, i), "%q is not a valid name of a namespace (%s)", name, cluster.WantNamespaces)
			}
		}
	}
	for i, name := range n.Include {
		at := fmt.Sprintf("%s.include[%d]", path, i)
		switch {
		case cluster.ListsNamespace(n.Exclude, name):
			d.Errorf(at, "%s is also excluded; remove it from one of the lists", name)
		case cluster.ListsNamespace(c.Namespaces.Exclude, name):
			d.Errorf(at, "%s is out of the global scope: namespaces.exclude is [%s]", name, strings.Join(c.Namespaces.Exclude, ", "))
		case len(c.Namespaces.Include) > 0 && !cluster.ListsNamespace(c.Namespaces.Include, name):
			d.Errorf(at, "%s is out of the global scope: namespaces.include is [%s]", name, strings.Join(c.Namespaces.Include, ", "))
		}
	}
}

// checkPerHour checks the limits of a strategy or a window on one hour.
func checkPerHour(d *strict.Decoder, path string, h *plan.OwnPerHour, zero string) {
	if h == nil {
		return
	}
	for key, n := range map[string]*plan.CountLimit{"owner": h.Owner, "cluster": h.Cluster} {
		if n != nil {
			checkAtLeastOne(d, path+"."+key, *n, zero)
		}
	}
}

// checkAtLeastOne rejects percentages, because the total number of pods is unknown here. It rejects 0 with the message
// zero.
func checkAtLeastOne(d *strict.Decoder, path string, n plan.CountLimit, zero string) {
	if strings.HasSuffix(n.String(), "%") {
		d.Errorf(path, "a share is not allowed here (want a whole number, or unlimited)")
	} else if n.For(1) < 1 {
		d.Errorf(path, "%s", zero)
	}
}

// checkStrategyGuards checks the guards of a strategy, and rejects each value that is looser than the global one.
func checkStrategyGuards(c *Config, d *strict.Decoder, path string, g StrategyGuards) {
	looser := func(key string, own, global any, want string) {
		d.Errorf(path+"."+key, "%v is looser than guards.%s: %v (want %v or %s)", own, key, global, global, want)
	}
	if v := g.MinReplicas; v != nil && *v < c.Guards.MinReplicas {
		looser("minReplicas", *v, c.Guards.MinReplicas, "more")
	}
	if v := g.MinPodAge; v != nil && *v < c.Guards.MinPodAge {
		looser("minPodAge", *v, c.Guards.MinPodAge, "more")
	}
	checkStrategyPriority(c, d, path+".priorityBelow", g.PriorityBelow, looser)
	for i, p := range g.Protect {
		d.CheckOneOf(fmt.Sprintf("%s.protect[%d]", path, i), "protection", p, toStrings(guard.Protections()))
	}
	checkEach(d, path+".protectedStorageClasses", g.ProtectedStorageClasses, validation.IsDNS1123Subdomain, notStorageClass)
}

// checkStrategyPriority compares priorities if both values are known without a cluster. Otherwise both hold.
func checkStrategyPriority(c *Config, d *strict.Decoder, path, below string, looser func(string, any, any, string)) {
	if below == "" {
		if d.Has(path) {
			d.Errorf(path, "is empty (want a number or the name of a PriorityClass, or leave the key out)")
		}
		return
	}
	own, known := priorityValue(below)
	if !known && len(validation.IsDNS1123Subdomain(below)) > 0 {
		d.Errorf(path, "%q is neither a number nor the name of a PriorityClass", below)
	}
	if global, same := priorityValue(c.Guards.PriorityBelow); known && same && own > global {
		looser("priorityBelow", below, c.Guards.PriorityBelow, "less")
	}
}

// priorityValue returns the value of a number or of a PriorityClass that every cluster has.
func priorityValue(text string) (int64, bool) {
	switch text {
	case "system-cluster-critical":
		return 2_000_000_000, true
	case "system-node-critical":
		return 2_000_001_000, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil
}

// checkWatchedMean rejects samples above the mean of other nodes than those of the strategy: the
// samples are compared with the mean of all nodes in the global scope.
func checkWatchedMean(d *strict.Decoder, path string, s Strategy, needs strategy.UsageNeeds) {
	if s.NodeSelector == "" || !slices.ContainsFunc(needs.Watches, func(w strategy.Watch) bool { return w.Target == 0 }) {
		return
	}
	d.Errorf(path+".args.for", "counts samples above the mean of all nodes in scope, but nodeSelector narrows the nodes of this strategy; "+
		"the combination is not supported (want for: 1, target, or no nodeSelector)")
}
