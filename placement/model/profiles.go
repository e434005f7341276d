package model

import (
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"maps"
	"slices"
)

// compileProfiles makes the options' profiles ready.
func (w *Cluster) compileProfiles(profiles map[string]scheduler.Profile) {
	w.Profiles = make(map[string]*scheduler.Compiled, len(profiles)+1)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[name]
		w.Profiles[name] = scheduler.Compile(name, p)
		if p.Packing != nil && w.Packing == nil {
			w.Packing = newPacking(w.Snap)
			w.Packing.defaultArgs = p.Packing
		}
	}
	if w.Profiles[corev1.DefaultSchedulerName] == nil {
		w.Profiles[corev1.DefaultSchedulerName] = scheduler.Compile(corev1.DefaultSchedulerName, scheduler.DefaultProfile())
	}
}

// ProfileOf returns the profile of a schedulerName. One that is not known is
// kept too, with the reason.
func (w *Cluster) ProfileOf(name string) *scheduler.Compiled {
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	p := w.Profiles[name]
	if p == nil {
		unknown := scheduler.DefaultProfile()
		unknown.UnsupportedReason = scheduler.UnknownScheduler
		p = scheduler.Compile(name, unknown)
		w.Profiles[name] = p
	}
	return p
}
