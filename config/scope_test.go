package config_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
)

// TestScopeNamesHints checks that the scope names every label and taint that may be a hint of Evenkeel.
func TestScopeNamesHints(t *testing.T) {
	c := config.Default()
	c.Hints.Former = []string{"status=presure", "example.com/hot"}
	got := c.Scope().Hints
	for _, label := range []string{"status=presure", "evenkeel.io/pressure=true", "evenkeel.io/steer=avoid"} {
		if !slices.Contains(got.Labels, label) {
			t.Errorf("the scope lacks the label %s: %v", label, got.Labels)
		}
	}
	for _, key := range []string{"example.com/hot", "evenkeel.io/pressure", "evenkeel.io/steer"} {
		if !slices.Contains(got.Taints, key) {
			t.Errorf("the scope lacks the taint %s: %v", key, got.Taints)
		}
	}
	if c.Scope().Pods != nil {
		t.Error("the global scope selects pods by label; guards.podSelector does that")
	}
}
