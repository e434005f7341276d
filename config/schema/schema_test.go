package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/schema"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const chartFile = "../../charts/evenkeel/values.schema.json"

func decode(t *testing.T, text []byte) (out node) {
	t.Helper()
	must.Succeed(t, json.Unmarshal(text, &out))
	return out
}

func encode(t *testing.T, n node) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // patterns stay readable
	enc.SetIndent("", "  ")
	must.Succeed(t, enc.Encode(n))
	return out.Bytes()
}

// TestSchemaMatchesTypes checks that the schema has exactly the keys, types and defaults of Config and of the arguments
// of the strategies, and the descriptions of docs/reference. The flag -update writes them, and keeps keywords that were
// added by hand.
func TestSchemaMatchesTypes(t *testing.T) {
	defaults := must.Get(json.Marshal(config.Default()))(t)
	g := &generator{rows: docRows(t), defaults: any(decode(t, defaults))}
	have := must.Get(os.ReadFile("config.json"))(t)
	want := g.config(decode(t, have))
	want["$schema"], want["$id"] = "http://json-schema.org/draft-07/schema#", schema.ConfigID
	want["title"] = "Evenkeel's config.yaml"
	want["description"] = "`evenkeel config check` also checks what this schema cannot express."
	golden.Equal(t, "config.json", encode(t, want))
}

// TestChartContainsSchema checks that the chart's schema of values contains the schema of config.yaml, so that Helm
// rejects the same mistakes, except for what its templates check. The flag -update writes it.
func TestChartContainsSchema(t *testing.T) {
	text, err := os.ReadFile(chartFile)
	if err != nil {
		t.Fatal(err)
	}
	values := decode(t, text)
	embedded, err := os.ReadFile("config.json") // not schema.Config, which -update does not change
	if err != nil {
		t.Fatal(err)
	}
	config := decode(t, embedded)
	for _, key := range []string{"$schema", "$id", "title"} { // the chart has its own, of another draft
		delete(config, key)
	}
	forHelm(t, config)
	config["description"] = "Evenkeel's configuration (config.yaml). `go test ./config/schema -update` writes this part; " +
		"Evenkeel also checks what a schema cannot express."
	sub(values, "properties")["config"] = config
	golden.Equal(t, chartFile, encode(t, values))
}

// TestDefaultsAreValid checks that the schema of each key accepts its default.
func TestDefaultsAreValid(t *testing.T) {
	checked := 0
	walk(decode(t, schema.Config), "", func(n node, path string) {
		value, has := n["default"]
		if !has {
			return
		}
		checked++
		c := jsonschema.NewCompiler()
		must.Succeed(t, c.AddResource("key.json", n))
		if err := c.MustCompile("key.json").Validate(value); err != nil {
			t.Errorf("the default of %s is no valid value: %v", path, err)
		}
	})
	if checked < 50 {
		t.Errorf("%d defaults, want those of docs/reference", checked)
	}
}

// TestEveryKeyHasADescription checks that editors can describe every key.
func TestEveryKeyHasADescription(t *testing.T) {
	walk(decode(t, schema.Config), "", func(n node, path string) {
		if path != "" && n["description"] == nil && path[len(path)-1] != ']' && path[len(path)-1] != '*' {
			t.Errorf("%s has no description: add a row to docs/reference, or a description to config.json", path)
		}
	})
}

// walk calls f for a schema and all schemas of its keys, elements and values.
func walk(n node, path string, f func(n node, path string)) {
	f(n, path)
	for name, child := range sub(n, "properties") {
		walk(child.(node), join(path, name), f)
	}
	if items := sub(n, "items"); items != nil {
		walk(items, path+"[]", f)
	}
	if values := sub(n, "additionalProperties"); values != nil {
		walk(values, path+".*", f)
	}
	conditions, _ := n["allOf"].([]any)
	for _, c := range conditions {
		typ := sub(sub(sub(c.(node), "if"), "properties"), "type")["const"].(string)
		walk(sub(sub(sub(c.(node), "then"), "properties"), "args"), path+"<"+typ+">.args", f)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
