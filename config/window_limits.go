package config

import (
	"cmp"
	"fmt"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// checkWindowLimits checks the limits of a window.
func checkWindowLimits(d *strict.Decoder, path string, l *plan.OwnLimits) {
	switch {
	case l == nil:
		return
	case d.HasErrors(path):
	case *l == plan.OwnLimits{} || l.PerHour != nil && *l.PerHour == plan.OwnPerHour{}:
		d.Errorf(path, "sets no limit (want keys of limits, such as {perPass: 10})")
	}
	checkPerHour(d, path+".perHour", l.PerHour, "0 would prevent every eviction (want 1 or more, or unlimited; to evict nothing then, add a deny window)")
}

// windowLimits returns the limits of allow windows, by index. The windows must be valid.
func (c *Config) windowLimits() map[int]limits.WindowLimits {
	out := map[int]limits.WindowLimits{}
	for i, w := range c.Windows.Allow {
		if w.Limits != nil {
			out[i] = limits.WindowLimits{Key: fmt.Sprintf("windows.allow[%d].limits", i), Options: orUnlimited(w.Limits)}
		}
	}
	return out
}

// orUnlimited returns the limits of a strategy or a window. A limit that is not set is unlimited.
func orUnlimited(l *plan.OwnLimits) limits.Options {
	limit := func(n *plan.CountLimit) plan.CountLimit {
		if n == nil {
			return plan.Unlimited()
		}
		return *n
	}
	h := cmp.Or(l.PerHour, &plan.OwnPerHour{})
	return limits.Options{
		PerPass: limit(l.PerPass), PerOwner: limit(l.PerOwner),
		PerNode: plan.Unlimited(), PerNamespace: plan.Unlimited(), PerZone: plan.Unlimited(),
		PerHour: limits.PerHour{Owner: limit(h.Owner), Namespace: plan.Unlimited(), Cluster: limit(h.Cluster)},
	}
}

// limit is a limit of a strategy or a window, or nil if it is not set, and the global limit.
type limit struct {
	key         string
	own, global *plan.CountLimit
}

// limits returns the limits of a strategy or a window with the global ones.
func (c *Config) limits(own *plan.OwnLimits) []limit {
	own = cmp.Or(own, &plan.OwnLimits{})
	h, all := cmp.Or(own.PerHour, &plan.OwnPerHour{}), &c.Limits
	return []limit{
		{"perPass", own.PerPass, &all.PerPass}, {"perNode", nil, &all.PerNode}, {"perNamespace", nil, &all.PerNamespace},
		{"perOwner", own.PerOwner, &all.PerOwner}, {"perZone", nil, &all.PerZone}, {"perHour.owner", h.Owner, &all.PerHour.Owner},
		{"perHour.namespace", nil, &all.PerHour.Namespace}, {"perHour.cluster", h.Cluster, &all.PerHour.Cluster},
	}
}
