package cluster_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
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
