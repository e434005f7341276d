package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestReadJSONList checks that a JSON list of objects, which kubectl does not write, is refused with a hint.
func TestReadJSONList(t *testing.T) {
	for _, text := range []string{`["a"]`, " \n[{\"kind\": \"Node\"}]"} {
		var o cluster.Objects
		err := cluster.Read(strings.NewReader(text), "snapshot.json", &o)
		if err == nil || !strings.Contains(err.Error(), "did you mean the items of a List?") {
			t.Errorf("%s: got %v, want an error that asks for a List", text, err)
		}
	}
}

// TestOrderOfKeys reads typed lists whose items have no kind, with the kind of the list before and after the items.
func TestOrderOfKeys(t *testing.T) {
	for name, text := range map[string]string{
		"kind first": `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
		"sorted":     `{"apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"NodeList"}`,
		"items only first": `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"kind":"Node","apiVersion":"v1"}],` +
			`"kind":"NodeList","apiVersion":"v1"}`,
		"YAML":   "apiVersion: v1\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]\nkind: NodeList\n",
		"nested": `{"apiVersion":"v1","items":[{"apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"NodeList"}],"kind":"List"}`,
	} {
		o := &cluster.Objects{}
		if err := cluster.Read(strings.NewReader(text), name, o); err != nil || len(o.Nodes) != 2 || o.Nodes[0].Name == o.Nodes[1].Name {
			t.Errorf("%s: %d nodes, %v", name, len(o.Nodes), err)
		}
	}
	err := cluster.Read(strings.NewReader(`{"items":[{"metadata":{"name":"a"}}],"kind":"List","apiVersion":"v1"}`), "x", &cluster.Objects{})
	if err == nil || !strings.Contains(err.Error(), "x, document 1, item 1: apiVersion or kind is missing") {
		t.Errorf("items without a kind in a List: %v", err)
	}
}

// TestLineOfBrokenJSON checks that an error of the syntax names its line.
func TestLineOfBrokenJSON(t *testing.T) {
	many := strings.Repeat(" {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}},\n", 5000)
	for text, want := range map[string]string{
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n {\"kind\":\"Node\"},\n {\"kind\":\"Node\",}\n]}": "(line 3)",
		"{\n \"x\": 1,\n-\n}":              "(line 3)",
		"{\"items\":[\n" + many + "{\n}x]": "(line 5003)",
		"{\"items\":[\n" + many + "{\n]":   "(line 5003)",
		"{\n\"a\": {\n\"b\": 1\n":          "(line 3)",
	} {
		if err := cluster.Read(strings.NewReader(text), "x", &cluster.Objects{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// TestReadFolders reads the folders below a folder, and counts the files that it leaves out.
func TestReadFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nodes.json": `{"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}}]}`, "shop/pods.yaml": "apiVersion: v1\nkind: PodList\n" +
			"items: [{metadata: {name: p, namespace: shop}}]\n", "shop/p/logs.txt": "x", ".git/a.yaml": "x", "shop/.hidden.json": "x",
	} {
		file := filepath.Join(dir, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	}
	o, err := cluster.ReadFiles([]string{dir}, nil)
	if err != nil || len(o.Nodes) != 1 || len(o.Pods) != 1 || len(o.LeftOut) != 1 || filepath.Base(o.LeftOut[0]) != "logs.txt" {
		t.Errorf("%v; %d nodes, %d pods, left out %v", err, len(o.Nodes), len(o.Pods), o.LeftOut)
	}
}
