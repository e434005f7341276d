package objectstest

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel"
)

// Definitions returns the OpenAPI document with the schemas of the kinds of this version.
func Definitions() []byte {
	schemas := map[string]any{}
	for _, text := range bytes.Split(evenkeel.CustomResourceDefinitions(), []byte("\n---\n")) {
		var d struct {
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &d); err != nil {
			panic(err)
		}
		for _, v := range d.Spec.Versions {
			v.Schema.OpenAPIV3Schema["x-kubernetes-group-version-kind"] = []any{map[string]string{"group": d.Spec.Group, "version": v.Name, "kind": d.Spec.Names.Kind}}
			schemas[d.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
		}
	}
	out, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": schemas}})
	if err != nil {
		panic(err)
	}
	return out
}
