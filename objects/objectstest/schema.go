package objectstest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// Schema returns the schema in the CustomResourceDefinition of a kind. Every schema of a CustomResourceDefinition is
// also a JSON Schema.
func Schema(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	for _, text := range bytes.Split(evenkeel.CustomResourceDefinitions(), []byte("---\n")) {
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct{ Schema struct{ OpenAPIV3Schema any } }
			}
		}
		must.Succeed(t, yaml.Unmarshal(text, &crd))
		if crd.Spec.Names.Kind != kind {
			continue
		}
		closed := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		closeObjects(closed)
		c := jsonschema.NewCompiler()
		must.Succeed(t, c.AddResource(kind, must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(json.Marshal(closed))(t))))(t)))
		return c.MustCompile(kind)
	}
	t.Fatalf("there is no definition of %s", kind)
	return nil
}

// closeObjects refuses fields that the API server would drop.
func closeObjects(schema any) {
	node, ok := schema.(map[string]any)
	if !ok {
		return
	}
	properties, _ := node["properties"].(map[string]any)
	if len(properties) > 0 {
		node["additionalProperties"] = false
	}
	for _, p := range properties {
		closeObjects(p)
	}
	closeObjects(node["items"])
}

// Validate returns an error if the API server would refuse or change an object with this schema.
func Validate(s *jsonschema.Schema, o any) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(value)
}
