package config

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// checkWindowLimits checks the limits of a window. Only allow windows may have limits.
func checkWindowLimits(d *strict.Decoder, list, path string, l *WindowLimits) {
	path += ".limits"
	switch {
	case l == nil:
		return
	case list != "windows.allow":
		d.Errorf(path, "has no effect: nothing is evicted while a deny window is open (want limits only in windows.allow)")
	case d.HasErrors(path):
	case *l == WindowLimits{} || l.PerHour != nil && *l.PerHour == WindowPerHour{}:
		d.Errorf(path, "sets no limit (want keys of limits, such as {perPass: 10})")
	}
	if l.PerHour == nil {
		return
	}
	for key, n := range map[string]*plan.CountLimit{"owner": l.PerHour.Owner, "namespace": l.PerHour.Namespace, "cluster": l.PerHour.Cluster} {
		switch {
		case n == nil:
		case strings.HasSuffix(n.String(), "%"):
			d.Errorf(path+".perHour."+key, "a share is not allowed here (want a whole number, or unlimited)")
		case n.For(1) < 1:
			d.Errorf(path+".perHour."+key, "0 would prevent every eviction (want 1 or more, or unlimited; to evict nothing then, add a deny window)")
		}
	}
}

// windowLimits returns the limits of allow windows, by index. The windows must be valid.
func (c *Config) windowLimits() map[int]limits.WindowLimits {
	orUnlimited := func(n *plan.CountLimit) plan.CountLimit {
		if n == nil {
			return plan.Unlimited()
		}
		return *n
	}
	out := map[int]limits.WindowLimits{}
	for i, w := range c.Windows.Allow {
		l := w.Limits
		if l == nil {
			continue
		}
		hour := WindowPerHour{}
		if l.PerHour != nil {
			hour = *l.PerHour
		}
		out[i] = limits.WindowLimits{Key: fmt.Sprintf("windows.allow[%d].limits", i), Options: limits.Options{
			PerPass: orUnlimited(l.PerPass), PerNode: orUnlimited(l.PerNode), PerNamespace: orUnlimited(l.PerNamespace),
			PerOwner: orUnlimited(l.PerOwner), PerZone: orUnlimited(l.PerZone),
			PerHour: limits.PerHour{Owner: orUnlimited(hour.Owner), Namespace: orUnlimited(hour.Namespace),
				Cluster: orUnlimited(hour.Cluster)}}}
	}
	return out
}
