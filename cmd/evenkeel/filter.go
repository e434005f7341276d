package main

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// checkFilter returns an error if the filter names something that does not exist, because the report would be empty.
func (in *planningInput) checkFilter(f *plan.Filter) error {
	var namespaces, nodes, strategies []string
	for _, p := range in.snapshot.Pods {
		namespaces = append(namespaces, p.Object.Namespace)
	}
	for _, n := range in.snapshot.Nodes {
		nodes = append(nodes, n.Name)
	}
	for _, st := range in.strategies {
		strategies = append(strategies, st.Name)
	}
	for _, x := range []struct {
		flag, missing string
		names, known  []string
	}{
		{"show-namespace", "no pod is in a namespace of that name", f.Namespaces, namespaces},
		{"show-node", "there is no node of that name", f.Nodes, nodes},
		{"show-strategy", "the configuration has no strategy of that name", f.Strategies, strategies},
	} {
		for _, name := range x.names {
			if !slices.Contains(x.known, name) {
				return fmt.Errorf("--%s %q: %s%s", x.flag, name, x.missing, suggest.DidYouMean(name, x.known))
			}
		}
	}
	return nil
}
