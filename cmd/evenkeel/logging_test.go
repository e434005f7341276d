package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheLastErrorIsALineOfTheLog: a reader of JSON lines also understands the error that ends the program.
func TestTheLastErrorIsALineOfTheLog(t *testing.T) {
	isolateFromCluster(t)
	got := invoke(t, connectTimeout, []string{"run", "--log-format", "json", "--log-level", "error", "--bind-address", "nowhere"}, "")
	var line struct{ Time, Level, Msg string }
	if err := json.Unmarshal([]byte(got.stderr), &line); err != nil || got.exit != 1 || line.Level != "ERROR" || line.Time == "" ||
		!strings.HasPrefix(line.Msg, `--bind-address: "nowhere" is not an address`) {
		t.Errorf("exit %d, %v: %s", got.exit, err, got.stderr)
	}
}
