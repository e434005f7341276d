package guard

import (
	"fmt"
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
// foretold.
var unknownController = Rule{plan.UnknownController, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil {
		return "", false
	}
	group, _, found := strings.Cut(c.APIVersion, "/")
	if !found {
		group = ""
	}
	msg := fmt.Sprintf("how %s %s replaces pods is not known", c.APIVersion, c.Kind)
	return msg, !replaces[group+"/"+c.Kind]
}}
