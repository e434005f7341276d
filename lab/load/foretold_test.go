package load

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// foretell is the path of the program that says where package placement sees a pod go.
var foretell string

func buildForetell(dir string) error {
	foretell = filepath.Join(dir, "foretell")
	build := exec.Command("go", "build", "-o", foretell, "./foretell")
	build.Dir = "../oracle"
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building foretell: %w\n%s", err, out)
	}
	return nil
}

// landedAsPredicted captures the cluster, takes the pods out that were added, and puts them
// back one by one in the order in which they were bound: each must stand on a node
// that wins it by then. They were added when nothing else changed.
func landedAsPredicted(t *testing.T, ns string, added []string) {
	t.Helper()
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "snapshot.json")
	if _, code := evenkeel(t, "capture", "-o", snapshot); code != 0 {
		t.Fatalf("capture: exit %d", code)
	}
	whole, hits := readList(t, snapshot), 0
	for i, pod := range added {
		part := whole
		part.Items = slices.DeleteFunc(slices.Clone(whole.Items), func(raw json.RawMessage) bool {
			kind, key := identity(raw)
			return kind == "Pod" && strings.HasPrefix(key, ns+"/") && slices.Contains(added[i+1:], strings.TrimPrefix(key, ns+"/"))
		})
		won, err := exec.CommandContext(t.Context(), foretell, writeList(t, dir, part), ns+"/"+pod).CombinedOutput()
		if err != nil {
			t.Fatalf("foretelling %s: %v: %s", pod, err, won)
		}
		if stands := standsOn(whole, ns+"/"+pod); slices.Contains(strings.Fields(string(won)), stands) {
			hits++
		} else {
			t.Errorf("pod %d, %s, is on %s; foretold was %q", i+1, pod, stands, strings.Fields(string(won)))
		}
	}
	t.Logf("%d of %d pods stand where they were foretold", hits, len(added))
}

// list is a captured cluster.
type list struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   json.RawMessage   `json:"metadata,omitempty"`
	Items      []json.RawMessage `json:"items"`
}

func readList(t *testing.T, path string) (l list) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil || len(l.Items) == 0 {
		t.Fatalf("reading what was captured: %v, %d items", err, len(l.Items))
	}
	return l
}

func writeList(t *testing.T, dir string, l list) string {
	t.Helper()
	data, err := json.Marshal(l)
	path := filepath.Join(dir, "part.json")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

type object struct {
	Kind     string
	Metadata struct{ Namespace, Name string }
	Spec     struct{ NodeName string }
}

func identity(raw json.RawMessage) (kind, key string) {
	var o object
	_ = json.Unmarshal(raw, &o) // it was JSON a moment ago
	return o.Kind, o.Metadata.Namespace + "/" + o.Metadata.Name
}

func standsOn(l list, pod string) string {
	for _, raw := range l.Items {
		if kind, key := identity(raw); kind == "Pod" && key == pod {
			var o object
			_ = json.Unmarshal(raw, &o)
			return o.Spec.NodeName
		}
	}
	return ""
}
