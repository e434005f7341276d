package placement

import (
	corev1 "k8s.io/api/core/v1"
	"maps"
	"slices"
)

// profiled makes the options' profiles ready.
func (w *clusterState) profiled(profiles map[string]Profile) {
	w.profiles = make(map[string]*profile, len(profiles)+1)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[name]
		w.profiles[name] = newProfile(name, p)
		if p.Packing != nil && w.packing == nil {
			w.packing = newPacking(w.snap)
			w.packing.args = p.Packing
		}
	}
	if w.profiles[corev1.DefaultSchedulerName] == nil {
		w.profiles[corev1.DefaultSchedulerName] = newProfile(corev1.DefaultSchedulerName, DefaultProfile())
	}
}

// profileOf returns the profile of a schedulerName. One that is not known is
// kept too, with the reason.
func (w *clusterState) profileOf(name string) *profile {
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	p := w.profiles[name]
	if p == nil {
		unknown := DefaultProfile()
		unknown.Unknown = unknownScheduler
		p = newProfile(name, unknown)
		w.profiles[name] = p
	}
	return p
}
