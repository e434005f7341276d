package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

var namespaceExcluded = Rule{plan.NamespaceExcluded, func(in Input) (string, bool) {
	ns := in.Pod.Object.Namespace
	return fmt.Sprintf("namespace %s is out of scope (namespaces.include and .exclude)", ns), !in.Options.Scope.HasNamespace(ns)
}}
