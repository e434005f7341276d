package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// otherFormat returns an error if the document is a well-known file that is no configuration: a policy of the
// descheduler, values of its chart, or values of Evenkeel's chart.
func otherFormat(name string, root *yaml.Node) error {
	keys := map[string]*yaml.Node{}
	if root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			keys[root.Content[i].Value] = root.Content[i+1]
		}
	}
	text := func(key string) string {
		if n := keys[key]; n != nil {
			return n.Value
		}
		return ""
	}
	switch inner := keys["config"]; {
	case text("kind") == "DeschedulerPolicy", strings.HasPrefix(text("apiVersion"), "descheduler/"):
		return fmt.Errorf("%s: this is a DeschedulerPolicy; `evenkeel config convert` converts it", name)
	case keys["deschedulerPolicy"] != nil:
		return fmt.Errorf("%s: contains values of the descheduler's chart (key deschedulerPolicy); "+
			"`evenkeel config convert` converts them", name)
	case inner != nil && inner.Kind == yaml.MappingNode && keys["apiVersion"] == nil && keys["strategies"] == nil:
		return fmt.Errorf("%s: contains values of a chart (key config); want a config.yaml, which is the part below config", name)
	}
	return nil
}
