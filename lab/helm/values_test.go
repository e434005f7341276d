package helm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const schemaFile = chart + "/values.schema.json"

// comment is what values.yaml says about a value.
type comment struct {
	path    []string
	text    string
	section bool // the value has keys of its own
}

// comments lists the values of values.yaml, in order. Of a value with a comment, it does not list the keys, but it
// lists those of config.
func comments(t *testing.T) (found []comment) {
	t.Helper()
	text, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var visit func(n *yaml.Node, path []string)
	visit = func(n *yaml.Node, path []string) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			c := comment{path: append(path[:len(path):len(path)], key.Value), text: meaning(key.HeadComment),
				section: value.Kind == yaml.MappingNode && len(value.Content) > 0}
			found = append(found, c)
			if c.section && (c.text == "" || key.Value == "config") {
				visit(value, c.path)
			}
		}
	}
	visit(file.Content[0], nil)
	return found
}

// meaning returns the text of the last comment that helm-docs reads: the lines from "# --" on.
func meaning(head string) string {
	_, text, found := strings.Cut(head, "# -- ")
	if !found {
		return ""
	}
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "#")); !strings.HasPrefix(line, "@") {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// TestEveryValueHasAComment checks that values.yaml says of each value what it means.
func TestEveryValueHasAComment(t *testing.T) {
	n := 0
	for _, c := range comments(t) {
		if c.text != "" {
			n++
		} else if !c.section {
			t.Errorf("values.yaml says nothing about %s", strings.Join(c.path, "."))
		}
	}
	if n < 150 {
		t.Errorf("found only %d comments", n)
	}
}

// TestSchemaDescribesValues checks that the schema has every value of values.yaml and no other, and that its
// descriptions are the comments of values.yaml. The flag -update writes the descriptions. Under config, the keys are
// those that `evenkeel config schema` prints.
func TestSchemaDescribesValues(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema manifest
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	top := map[string]bool{}
	for _, c := range comments(t) {
		top[c.path[0]] = true
		if c.path[0] == "config" {
			continue
		}
		node := schema
		for _, key := range c.path {
			properties, _ := node["properties"].(manifest)
			node, _ = properties[key].(manifest)
		}
		switch {
		case node == nil:
			t.Errorf("the schema has no value %s", strings.Join(c.path, "."))
		case c.text != "":
			node["description"] = c.text
		case node["additionalProperties"] != false && c.path[0] != "global":
			t.Errorf("the schema allows any key in %s", strings.Join(c.path, "."))
		}
	}
	for name := range schema["properties"].(manifest) {
		if !top[name] {
			t.Errorf("values.yaml has no value %s", name)
		}
	}
	compareOrUpdate(t, schemaFile, schema)
}

// compareOrUpdate compares a JSON file with what it should contain, or writes it.
func compareOrUpdate(t *testing.T, file string, want any) {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, out.Bytes()) {
		t.Errorf("the descriptions in %s differ from the comments of values.yaml; run `go test . -update` (%v)", file, err)
	}
}
