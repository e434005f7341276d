package annotation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Problem describes a request that cannot be read, or a key that has no meaning on its object.
type Problem struct {
	Source
	// Want describes the values that are accepted.
	Want string
	// Cause explains why the value is wrong. If it is empty, messages show only Want.
	Cause string
	// Misplaced means that the key is unknown or belongs on another kind of object. The value
	// does not matter.
	Misplaced bool
}

// String explains the problem and names the accepted values.
func (p Problem) String() string {
	switch {
	case p.Misplaced:
		return fmt.Sprintf("%s: %s", p.Source, p.Cause)
	case p.Cause != "":
		return fmt.Sprintf("%s cannot be read: %s", p.Source, p.Cause)
	}
	return fmt.Sprintf("%s cannot be read (want %s)", p.Source, p.Want)
}

// newProblem returns the problem of a value that cannot be read.
func newProblem(src Source, want string) Problem {
	return Problem{Source: src.truncated(), Want: want}
}

// unknownKeys returns a problem for each evenkeel.io key that has no meaning on this object.
func (o object) unknownKeys(here, elsewhere keySet) []Problem {
	var out []Problem
	for _, m := range [...]map[string]string{o.meta.GetAnnotations(), o.meta.GetLabels()} {
		for key, v := range m {
			if strings.HasPrefix(key, Prefix) && !here.contains(key) {
				out = append(out, Problem{Source: Source{o.name, key, truncate(v)}, Want: "one of " + strings.Join(here.keys, ", "),
					Cause: misplacedCause(key, here, elsewhere), Misplaced: true})
			}
		}
	}
	sortProblems(out)
	return out
}

// misplacedCause explains why a key has no meaning on this object.
func misplacedCause(key string, here, elsewhere keySet) string {
	if elsewhere.contains(key) {
		return "it belongs on " + elsewhere.objects
	}
	// All keys share the prefix, so only the rest of a key decides which key is similar.
	var known []string
	for _, k := range here.keys {
		known = append(known, strings.TrimPrefix(k, Prefix))
	}
	if near := suggest.Nearest(strings.TrimPrefix(key, Prefix), known); near != "" {
		return "no such key (did you mean " + Prefix + near + "?)"
	}
	return "no such key on " + here.objects + " (want one of " + strings.Join(here.keys, ", ") + ")"
}

// objectProblems returns the problems of the requests on an owner or a namespace.
func objectProblems(o object, loc *time.Location) []Problem {
	var p Pod
	p.readRequests(o, loc)
	var w Workload
	w.readObject(o)
	return slices.Concat(p.Problems, w.Problems, o.unknownKeys(podKeys, nodeKeys))
}

// podProblems returns the problems of the requests on a pod. Keys of other programs count only
// on pods.
func podProblems(o object, loc *time.Location) []Problem {
	var foreign Pod
	foreign.readForeignKeys(o)
	return append(objectProblems(o, loc), foreign.Problems...)
}

func sortProblems(list []Problem) {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
}
