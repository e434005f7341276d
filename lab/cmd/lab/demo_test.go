package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestWhatTheDemoOffersToTry checks that the demo's configuration file exists until it is removed, and that the
// suggested commands refer to it. When they are suggested, the cluster is balanced: the commands about moves must read
// the state before.
func TestWhatTheDemoOffersToTry(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	config, remove, err := writeDemoConfig()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(suggestedCommands("bin/evenkeel", "k.yaml", config)) {
		if strings.HasPrefix(line, "  bin/evenkeel ") {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	before, rest := " -f "+savedInput(config), " --config "+config
	want := []string{"bin/evenkeel plan -o wide" + before + rest, "bin/evenkeel explain workload deployment/shop/d" + before + rest,
		"bin/evenkeel explain workload deployment/shop/d --kubeconfig k.yaml" + rest}
	if !slices.Equal(commands, want) {
		t.Errorf("got commands %q, want %q", commands, want)
	}
	if text, err := os.ReadFile(config); err != nil || string(text) != demoConfig {
		t.Errorf("reading the configuration: %v, got:\n%s", err, text)
	}
	remove()
	if _, err := os.Stat(config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the configuration file still exists after remove: %v", err)
	}
}
