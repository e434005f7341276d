package annotation

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Problems lists every unreadable request in the snapshot once, sorted. It takes O(pods x
// keys).
func Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	return NewCache().Problems(s, loc)
}

// objectProblems returns the problems of the requests on one object.
func objectProblems(o object, loc *time.Location) []Problem {
	var p Pod
	p.readEvict(o)
	p.readProtection(o, DoNotDisrupt)
	p.readWindows(o, loc)
	var w Workload
	w.readObject(o)
	return slices.Concat(p.Problems, w.Problems, o.unknownKeys(podKeys, nodeKeys))
}
