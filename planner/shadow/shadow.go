// Package shadow finds out whether a scheduler that is not known places pods as
// the default profile would: it foretells ordinary bindings that it has no hand
// in, and keeps how many came true.
//
// It decides from those counts which schedulers may be taken for the default
// profile. It never makes a binding, and says nothing about known schedulers.
package shadow

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options say when a scheduler is taken for the default profile.
type Options struct {
	// MinBindings is how many bindings must have been foretold; 0 trusts no
	// unknown scheduler.
	MinBindings int
	// MinHitRate is the share of them, 0..1, that must have come true.
	MinHitRate float64
}

// SchedulerName of a pod, with the API server's default.
func SchedulerName(p *corev1.Pod) string {
	if p.Spec.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return p.Spec.SchedulerName
}

// Judge says whether a pod that was just bound stands where the default profile
// would have put it. It is silent (told false) where that says little: where
// nothing can be foretold, or more than half of the feasible nodes would have
// been as good.
func Judge(s *cluster.Snapshot, id cluster.PodID) (hit, told bool) {
	p := &s.Pods[id]
	if p.Node == cluster.NoNode {
		return false, false
	}
	name := SchedulerName(p.Object)
	w := placement.NewWorld(s, placement.Options{Profiles: map[string]placement.Profile{name: placement.DefaultProfile()}})
	before := w.Predict(id).Gone
	if len(before.Winners) == 0 || 2*len(before.Winners) > len(before.Feasible) {
		return false, false
	}
	return slices.Contains(before.Winners, p.Node), true
}

// Profiles adds what the counts say of unknown schedulers to the profiles that
// are configured, which stay as they are.
func (o Options) Profiles(configured map[string]placement.Profile, seen map[string]plan.Bindings) map[string]placement.Profile {
	if len(seen) == 0 {
		return configured
	}
	out := maps.Clone(configured)
	if out == nil {
		out = map[string]placement.Profile{}
	}
	for name, b := range seen {
		if _, known := out[name]; known || name == corev1.DefaultSchedulerName {
			continue
		}
		out[name] = placement.DefaultProfile()
		if why := o.doubt(b); why != "" {
			out[name] = placement.Profile{Unknown: why}
		}
	}
	return out
}

// doubt is why a scheduler is not taken for the default profile; empty when it
// is.
func (o Options) doubt(b plan.Bindings) string {
	switch {
	case o.MinBindings <= 0:
		return "its scores are not known"
	case b.Foretold < o.MinBindings:
		return fmt.Sprintf("its scores are not known, and %d of its bindings were foretold so far, of %d that are wanted", b.Foretold, o.MinBindings)
	case float64(b.Hits) < o.MinHitRate*float64(b.Foretold):
		return fmt.Sprintf("its scores are not known, and %d of %d bindings went where the default profile foretold, less than %.0f %%", b.Hits, b.Foretold, 100*o.MinHitRate)
	}
	return ""
}
