package annotation

import (
	"slices"
	"time"
)

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
