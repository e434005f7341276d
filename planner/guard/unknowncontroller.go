package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// replaces names the controllers, by API group and kind, whose way of replacing
// a pod is known.
var replaces = map[string]bool{
	"apps/ReplicaSet":        true,
	"apps/StatefulSet":       true,
	"apps/DaemonSet":         true,
	"batch/Job":              true,
	"/ReplicationController": true,
}

// When and from which template an unknown controller replaces a pod cannot be
// foretold, unless the config vouches for it.
var unknownController = Rule{plan.UnknownController, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil {
		return "", false
	}
	kind := groupKind(c.APIVersion, c.Kind)
	msg := fmt.Sprintf("how %s replaces pods is not known (guards.controllers may name it)", strings.TrimPrefix(kind, "/"))
	return msg, !replaces[kind] && !slices.Contains(in.Options.Controllers, kind)
}}

func groupKind(apiVersion, kind string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	return group + "/" + kind
}
