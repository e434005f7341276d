package guard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
)

var namespaceExcluded = Rule{plan.NamespaceExcluded, WorkloadScope, func(in Input) (string, bool) {
	ns, scope := in.Pod.Object.Namespace, in.Options.Scope
	switch {
	case scope.HasNamespace(in.Snapshot, ns):
		return "", false
	case !scope.ListsNamespace(ns):
		return fmt.Sprintf("namespace %s is out of scope (namespaces.include and .exclude)", ns), true
	case in.Snapshot.Namespace(ns) == nil:
		return fmt.Sprintf("the labels of namespace %s are unknown (namespaces.selector)", ns), true
	}
	return fmt.Sprintf("namespaces.selector %q does not select namespace %s", scope.Namespaces, ns), true
}}

var podNotSelected = Rule{plan.PodNotSelected, PodScope, func(in Input) (string, bool) {
	selector := in.Options.PodSelector
	if selector == nil || selector.Empty() {
		return "", false
	}
	if selector.Matches(labels.Set(in.Pod.Object.Labels)) {
		return "", false
	}
	return fmt.Sprintf("guards.podSelector %q does not select the pod", selector), true
}}
