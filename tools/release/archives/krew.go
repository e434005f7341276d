package archives

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// Krew returns the manifest by which krew, the plugin manager of kubectl, installs the archives of a release.
func Krew(s source.Source, archives []Archive) ([]byte, error) {
	type object = map[string]any
	var platforms []object
	for _, a := range archives {
		binary := "evenkeel"
		if a.Platform.OS == "windows" {
			binary += ".exe"
		}
		platforms = append(platforms, object{
			"selector": object{"matchLabels": object{"os": a.Platform.OS, "arch": a.Platform.Arch}},
			"uri":      fmt.Sprintf("%s/releases/download/v%s/%s", source.URL, s.Version, a.Name),
			"sha256":   a.SHA256,
			"bin":      binary,
			"files":    []object{{"from": binary, "to": "."}, {"from": "LICENSE", "to": "."}},
		})
	}
	return yaml.Marshal(object{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
		"kind":       "Plugin",
		"metadata":   object{"name": "evenkeel"},
		"spec": object{
			"version":          "v" + s.Version,
			"homepage":         source.URL,
			"shortDescription": "Plan the evictions that even out a cluster",
			"description": "Evenkeel finds nodes and zones with too much load, and plans the fewest evictions whose replacements are\n" +
				"predicted to land on a better node. It shows the plan, explains why a pod stays or moves, and approves,\n" +
				"pauses and resumes an installed Evenkeel. Without --config it evicts nothing.\n",
			"platforms": platforms,
		},
	})
}
