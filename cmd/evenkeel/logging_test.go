package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheLastErrorIsALineOfTheLog checks that the error that ends the program is written as JSON if the log is JSON.
func TestTheLastErrorIsALineOfTheLog(t *testing.T) {
	isolateFromCluster(t)
	got := invoke(t, connectTimeout, []string{"run", "--log-format", "json", "--log-level", "error", "--bind-address", "nowhere"}, "")
	var line struct{ Time, Level, Msg string }
	if err := json.Unmarshal([]byte(got.stderr), &line); err != nil || got.exit != 1 || line.Level != "ERROR" || line.Time == "" ||
		!strings.HasPrefix(line.Msg, `--bind-address: "nowhere" is not an address`) {
		t.Errorf("exit %d, %v: %s", got.exit, err, got.stderr)
	}
}
