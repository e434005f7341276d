package guard

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// What people ask for, strictest first.
var (
	evictNever = Rule{plan.EvictNever, func(in Input) (string, bool) {
		for _, src := range in.asked().Never {
			return src.String(), true
		}
		return "", false
	}}

	doNotDisrupt = Rule{plan.DoNotDisrupt, func(in Input) (string, bool) {
		for _, h := range in.asked().Holds {
			if h.For == 0 {
				return h.String(), true
			}
			start := in.Pod.Object.Status.StartTime
			if start == nil {
				return h.String() + ", and the pod's start time is not known", true
			}
			if end := start.Add(h.For); in.Now.Before(end) {
				return fmt.Sprintf("%s, until %s", h, end.UTC().Format(time.RFC3339)), true
			}
		}
		return "", false
	}}

	// What was perhaps meant to protect a pod protects it until it can be read.
	// On its node that is a key that does not exist: an exclude that cannot be
	// read excludes (NodeExcluded), and a drain-first protects nothing.
	requestUnreadable = Rule{plan.RequestUnreadable, func(in Input) (string, bool) {
		for _, p := range in.asked().Problems {
			return p.String(), true
		}
		for _, p := range annotation.OfNode(&in.Snapshot.Nodes[in.Pod.Node]).Problems {
			if p.Key != annotation.Exclude && p.Key != annotation.DrainFirst {
				return p.String(), true
			}
		}
		return "", false
	}}

	preferNoEviction = Rule{plan.PreferNoEviction, func(in Input) (string, bool) {
		if in.Options.NoEvictionPolicy != Mandatory {
			return "", false
		}
		for _, src := range in.asked().PreferNot {
			return src.String() + ", and guards.noEvictionPolicy is " + string(Mandatory), true
		}
		return "", false
	}}

	// Another program migrates the pod in its own way.
	evictionInProgress = Rule{plan.EvictionInProgress, func(in Input) (string, bool) {
		for _, src := range in.asked().InProgress {
			return src.String(), true
		}
		return "", false
	}}
)
