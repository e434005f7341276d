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

// predictBinary is the path of a program that predicts the node of a pod.
var predictBinary string

func buildPredict(dir string) error {
	predictBinary = filepath.Join(dir, "predict")
	build := exec.Command("go", "build", "-o", predictBinary, "./predict")
	build.Dir = "../oracle"
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building predict: %w\n%s", err, out)
	}
	return nil
}

// checkPredictions captures the cluster, removes the added pods from the capture, and adds them again in the order of
// their binding. Each pod must be on a node that the prediction names at that point. While the pods were added, the
// cluster must not have changed otherwise.
func checkPredictions(t *testing.T, ns string, added []string) {
	t.Helper()
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "snapshot.json")
	if _, code := runEvenkeel(t, "capture", "-o", snapshot); code != 0 {
		t.Fatalf("capture: exit %d", code)
	}
	whole, hits := readList(t, snapshot), 0
	for i, pod := range added {
		part := whole
		part.Items = slices.DeleteFunc(slices.Clone(whole.Items), func(raw json.RawMessage) bool {
			kind, key := kindAndKey(raw)
			return kind == "Pod" && strings.HasPrefix(key, ns+"/") && slices.Contains(added[i+1:], strings.TrimPrefix(key, ns+"/"))
		})
		won, err := exec.CommandContext(t.Context(), predictBinary, writeList(t, dir, part), ns+"/"+pod).CombinedOutput()
		if err != nil {
			t.Fatalf("predicting the node of %s: %v: %s", pod, err, won)
		}
		if stands := findNodeOf(whole, ns+"/"+pod); slices.Contains(strings.Fields(string(won)), stands) {
			hits++
		} else {
			t.Errorf("pod %d (%s) is on node %s, predicted nodes are %q", i+1, pod, stands, strings.Fields(string(won)))
		}
	}
	t.Logf("%d of %d pods are on a predicted node", hits, len(added))
}

// objectList is a captured cluster.
type objectList struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   json.RawMessage   `json:"metadata,omitempty"`
	Items      []json.RawMessage `json:"items"`
}

func readList(t *testing.T, path string) (l objectList) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil || len(l.Items) == 0 {
		t.Fatalf("reading the snapshot: %v, %d items", err, len(l.Items))
	}
	return l
}

func writeList(t *testing.T, dir string, l objectList) string {
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

type rawObject struct {
	Kind     string
	Metadata struct{ Namespace, Name string }
	Spec     struct{ NodeName string }
}

func kindAndKey(raw json.RawMessage) (kind, key string) {
	var o rawObject
	_ = json.Unmarshal(raw, &o) // the same bytes have been parsed before
	return o.Kind, o.Metadata.Namespace + "/" + o.Metadata.Name
}

func findNodeOf(l objectList, pod string) string {
	for _, raw := range l.Items {
		if kind, key := kindAndKey(raw); kind == "Pod" && key == pod {
			var o rawObject
			_ = json.Unmarshal(raw, &o)
			return o.Spec.NodeName
		}
	}
	return ""
}
