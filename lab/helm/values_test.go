package helm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	if n < 100 {
		t.Errorf("found only %d comments", n)
	}
}

// refusedValues returns what files/refused-values.yaml says of each value.
func refusedValues(t *testing.T) (want map[string]string) {
	t.Helper()
	text, err := os.ReadFile(chart + "/files/refused-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestSchemaDescribesValues checks that the schema has every value of values.yaml and no other, apart from those that
// the templates refuse with a better message, and that its descriptions are the comments of values.yaml. The flag
// -update writes the descriptions and the refused values. Under config, the keys are those of `evenkeel config schema`.
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
	for value := range refusedValues(t) {
		node, path := schema, strings.Split(value, ".")
		for _, key := range path[:len(path)-1] {
			node, _ = node["properties"].(manifest)[key].(manifest)
		}
		if node["additionalProperties"] != false {
			continue // the schema takes each key
		}
		if node["patternProperties"] == nil {
			node["patternProperties"] = manifest{}
		}
		node["patternProperties"].(manifest)["^"+path[len(path)-1]+"$"] = true
	}
	compareOrUpdate(t, schemaFile, schema)
}

// TestRefusedValues checks that the chart refuses each value of files/refused-values.yaml, and names all of them. The
// default of an earlier chart, which --reuse-values takes over, has a remedy of its own.
func TestRefusedValues(t *testing.T) {
	values, want := manifest{}, []string{}
	for value, remedy := range refusedValues(t) {
		node, path := values, strings.Split(value, ".")
		for _, key := range path[:len(path)-1] {
			if node[key] == nil {
				node[key] = manifest{}
			}
			node = node[key].(manifest)
		}
		node[path[len(path)-1]] = false
		want = append(want, fmt.Sprintf("%s is set, which the chart does not take (want %s)\n", value, remedy))
	}
	check := func(values manifest, want []string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "values.yaml")
		text, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart, "--values", file}, imageArgs)...)
		if err == nil {
			t.Errorf("helm accepts %v", values)
		}
		for _, w := range want {
			if !strings.Contains(errs, w) {
				t.Errorf("the error does not contain %q:\n%s", w, errs)
			}
		}
	}
	check(values, want)
	values["workloadLabels"] = manifest{}
	check(values, []string{"workloadLabels is a value of an earlier chart, which --reuse-values took over (want --reset-then-reuse-values"})
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
