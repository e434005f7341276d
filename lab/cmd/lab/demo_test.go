package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestWhatTheDemoOffersToTry needs the configuration, for as long as the cluster
// is up.
func TestWhatTheDemoOffersToTry(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	config, remove, err := demoFile()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(tryNext("bin/evenkeel", "k.yaml", config)) {
		if strings.HasPrefix(line, "  bin/evenkeel ") {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	if len(commands) != 3 || !strings.Contains(commands[0], " plan ") || !strings.Contains(commands[1], " explain ") {
		t.Errorf("%q", commands)
	}
	for _, c := range commands {
		if !strings.HasSuffix(c, " --kubeconfig k.yaml --config "+config) {
			t.Errorf("%s: does not name the cluster and the configuration", c)
		}
	}
	if text, err := os.ReadFile(config); err != nil || string(text) != demoConfig {
		t.Errorf("%v: %s", err, text)
	}
	remove()
	if _, err := os.Stat(config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}
