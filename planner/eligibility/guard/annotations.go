package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// What people ask for, strictest first.
var (
	evictNever = Rule{plan.EvictNever, podScope, func(in Input) (string, bool) {
		never := in.asked().NeverEvict
		return joined(never), len(never) > 0
	}}

	// Of several requests the one that holds longest is named.
	doNotDisrupt = Rule{plan.DoNotDisrupt, podScope, func(in Input) (string, bool) {
		var last time.Time
		message := ""
		if forGood := slices.DeleteFunc(slices.Clone(in.asked().Protections), func(h annotation.Protection) bool { return h.For != 0 }); len(forGood) > 0 {
			return joined(forGood), true
		}
		for _, h := range in.asked().Protections {
			start := in.Pod.Object.Status.StartTime
			if start == nil {
				return h.String() + ", and the pod's start time is not known", true
			}
			if end := start.Add(h.For); in.Now.Before(end) && end.After(last) {
				last, message = end, fmt.Sprintf("%s, until %s", h, end.UTC().Format(time.RFC3339))
			}
		}
		return message, message != ""
	}}

	// What was perhaps meant to protect a pod protects it until it can be read.
	// On its node that is a key that does not exist: an exclude that cannot be
	// read excludes (NodeExcluded), and a drain-first protects nothing.
	requestUnreadable = Rule{plan.RequestUnreadable, podScope, func(in Input) (string, bool) {
		if ns := in.Pod.Object.Namespace; in.Snapshot.Namespace(ns) == nil {
			return "namespace " + ns + " is not in the snapshot, so what it asks for is not known", true
		}
		problems := slices.Clone(in.asked().Problems)
		for _, p := range in.node().Problems {
			if p.Key != annotation.Exclude && p.Key != annotation.DrainFirst {
				problems = append(problems, p)
			}
		}
		return joined(problems), len(problems) > 0
	}}

	preferNoEviction = Rule{plan.PreferNoEviction, podScope, func(in Input) (string, bool) {
		if in.Options.NoEvictionPolicy != Mandatory {
			return "", false
		}
		not := in.asked().PreferNoEviction
		if len(not) == 0 {
			return "", false
		}
		return joined(not) + ", and guards.noEvictionPolicy is " + string(Mandatory), true
	}}

	// Another program migrates the pod in its own way.
	evictionInProgress = Rule{plan.EvictionInProgress, podScope, func(in Input) (string, bool) {
		moving := in.asked().EvictionInProgress
		return joined(moving), len(moving) > 0
	}}
)

// maxCauses bounds how many causes of one refusal are named.
const maxCauses = 3

// joined names every cause: an operator who takes one away should know of the
// others.
func joined[T fmt.Stringer](causes []T) string {
	var names []string
	for i, c := range causes {
		if i == maxCauses {
			names = append(names, fmt.Sprintf("%d more", len(causes)-i))
			break
		}
		names = append(names, c.String())
	}
	return strings.Join(names, ", and ")
}
