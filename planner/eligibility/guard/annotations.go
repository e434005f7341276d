package guard

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// These rules apply annotations on pods, owners, namespaces and nodes, in order of strictness.
var (
	evictNever = Rule{plan.EvictNever, RequestScope, func(in Input) (string, bool) {
		never := in.podAnnotations().NeverEvict
		return joinCauses(never), len(never) > 0
	}}

	doNotDisrupt = Rule{plan.DoNotDisrupt, RequestScope, checkDoNotDisrupt}

	requestUnreadable = Rule{plan.RequestUnreadable, PodScope, checkRequestUnreadable}

	preferNoEviction = Rule{plan.PreferNoEviction, RequestScope, func(in Input) (string, bool) {
		requests := in.podAnnotations().PreferNoEviction
		if len(requests) == 0 || in.Options.NoEvictionPolicy != Mandatory {
			return "", false
		}
		return joinCauses(requests) + ", and guards.noEvictionPolicy is " + string(Mandatory), true
	}}

	// Another program, for example KubeVirt, migrates the pod in its own way.
	evictionInProgress = Rule{plan.EvictionInProgress, RequestScope, func(in Input) (string, bool) {
		requests := in.podAnnotations().EvictionInProgress
		return joinCauses(requests), len(requests) > 0
	}}
)

// checkDoNotDisrupt names the protections without an end. If all protections have an end, it names the protection that
// ends last.
func checkDoNotDisrupt(in Input) (string, bool) {
	protections := in.podAnnotations().Protections
	hasEnd := func(p annotation.Protection) bool { return p.For != 0 }
	if endless := slices.DeleteFunc(slices.Clone(protections), hasEnd); len(endless) > 0 {
		return joinCauses(endless), true
	}
	var last time.Time
	message := ""
	for _, p := range protections {
		start, known := in.Pod.Started()
		if !known {
			return p.String() + ", and the pod has no start time", true
		}
		if end := start.Add(p.For); in.Now.Before(end) && end.After(last) {
			last, message = end, fmt.Sprintf("%s, until %s", p, end.UTC().Format(time.RFC3339))
		}
	}
	return message, message != ""
}

// checkRequestUnreadable refuses if an annotation is invalid, or if an object has a version that is not read, because
// the author may have wanted to protect the pod. Such objects are of every kind whose v1 a snapshot holds, such as a
// PodDisruptionBudget; those without a namespace concern all pods. It ignores two annotations on the node: an invalid
// exclude excludes the node (NodeExcluded), and drain-first protects no pod.
func checkRequestUnreadable(in Input) (string, bool) {
	if !in.ownerPassed {
		ns := in.Pod.Object.Namespace
		if in.Snapshot.Namespace(ns) == nil {
			return "namespace " + ns + " is not in the snapshot, so its annotations are unknown", true
		}
		if unread := cmp.Or(in.Snapshot.Objects.UnreadVersions[ns], in.Snapshot.Objects.UnreadVersions[""]); unread != "" {
			return unread, true
		}
	}
	problems := slices.Clone(in.podAnnotations().Problems)
	for _, p := range in.nodeAnnotations().Problems {
		if p.Key != annotation.Exclude && p.Key != annotation.DrainFirst {
			problems = append(problems, p)
		}
	}
	return joinCauses(problems), len(problems) > 0
}
