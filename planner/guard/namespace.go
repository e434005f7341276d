package guard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
)

var namespaceExcluded = Rule{plan.NamespaceExcluded, func(in Input) (string, bool) {
	ns := in.Pod.Object.Namespace
	if !in.Options.Scope.HasNamespace(ns) {
		return fmt.Sprintf("namespace %s is out of scope (namespaces.include and .exclude)", ns), true
	}
	sel := in.Options.Scope.Namespaces
	if sel == nil || sel.Empty() {
		return "", false
	}
	o := in.Snapshot.Namespace(ns)
	if o == nil {
		return fmt.Sprintf("the labels of namespace %s are not known (namespaces.selector)", ns), true
	}
	return fmt.Sprintf("namespaces.selector %q does not select namespace %s", sel, ns), !sel.Matches(labels.Set(o.Labels))
}}
