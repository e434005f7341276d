// Package annotation reads the requests that people state in annotations and labels: on a pod,
// its owners, its namespace, and on nodes.
//
// It decides what a value means and which of several requests is the strictest. An unreadable
// value or an unknown evenkeel.io key is a Problem. If such a request could protect a pod, the
// pod is protected. The package never decides whether a pod moves: the guards, the planner and
// the strategies do that.
package annotation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Source says on which object a request was found.
type Source struct {
	Object string // such as "Deployment shop/d", or "the pod"
	Key    string
	Value  string
}

// String returns the key, the value as it was written, and the object.
func (s Source) String() string { return fmt.Sprintf("%s: %q on %s", s.Key, s.Value, s.Object) }

// Problem is a request that cannot be read, or a key that has no meaning on its object.
type Problem struct {
	Source
	// Want describes the values that are accepted.
	Want string
	// Cause says what is wrong with the value. If it is empty, only Want is shown.
	Cause string
	// Misplaced means that the key is unknown or belongs on another kind of object. The value
	// does not matter.
	Misplaced bool
}

// String says what is wrong and which values are accepted.
func (p Problem) String() string {
	switch {
	case p.Misplaced:
		return fmt.Sprintf("%s: %s", p.Source, p.Cause)
	case p.Cause != "":
		return fmt.Sprintf("%s cannot be read: %s", p.Source, p.Cause)
	}
	return fmt.Sprintf("%s cannot be read (want %s)", p.Source, p.Want)
}

// object is an API object that can carry requests.
type object struct {
	name string
	meta metav1.Object
}

// values returns the values of a key: that of the annotation, and that of the label if it
// differs.
func (o object) values(key string) []Source {
	var out []Source
	v, annotated := o.meta.GetAnnotations()[key]
	if annotated {
		out = append(out, Source{o.name, key, v})
	}
	if l, ok := o.meta.GetLabels()[key]; ok && !(annotated && l == v) {
		out = append(out, Source{o.name, key, l})
	}
	return out
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

// misplacedCause says why a key has no meaning on this object.
func misplacedCause(key string, here, elsewhere keySet) string {
	if elsewhere.contains(key) {
		return "it belongs on " + elsewhere.objects
	}
	// All keys share the prefix, so suggestions compare only the rest.
	var known []string
	for _, k := range here.keys {
		known = append(known, strings.TrimPrefix(k, Prefix))
	}
	if near := suggest.Nearest(strings.TrimPrefix(key, Prefix), known); near != "" {
		return "no such key (did you mean " + Prefix + near + "?)"
	}
	return "no such key on " + here.objects + " (want one of " + strings.Join(here.keys, ", ") + ")"
}

// requestObjects returns the objects whose requests apply to a pod: the pod, its owners, and
// its namespace.
func requestObjects(s *cluster.Snapshot, p *cluster.Pod) []object {
	out := append(make([]object, 0, 4), object{"the pod", p.Object})
	for i, o := range p.Owners {
		if isDeploymentCopy(p.Owners[i:]) {
			continue
		}
		out = append(out, object{ownerName(o), o})
	}
	if ns := s.Namespace(p.Object.Namespace); ns != nil {
		out = append(out, object{"namespace " + ns.Name, ns})
	}
	return out
}

// isDeploymentCopy reports whether the first owner is a ReplicaSet of a Deployment. The
// deployment controller copies annotations to the ReplicaSet but never removes them there, so a
// withdrawn request would remain.
func isDeploymentCopy(owners []metav1.Object) bool {
	if len(owners) < 2 {
		return false
	}
	_, copied := owners[0].(*appsv1.ReplicaSet)
	_, original := owners[1].(*appsv1.Deployment)
	return copied && original
}

func sortProblems(list []Problem) {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
}

// truncated returns the source with its value truncated.
func truncated(src Source) Source {
	src.Value = truncate(src.Value)
	return src
}
