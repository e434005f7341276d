package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type verdict string

const (
	invalid  verdict = "invalid" // the mutant does not compile
	noticed  verdict = "noticed" // a test fails or exceeds the time limit
	survived verdict = "survived"
)

// checkUnchanged returns an error if a test fails without any change. Its failures would say nothing about mutants.
func checkUnchanged(ctx context.Context, areas []Area, timeout time.Duration) error {
	packages := map[string]bool{}
	for _, a := range areas {
		files, err := a.sourceFiles()
		if err != nil {
			return err
		}
		for _, f := range files {
			for _, pkg := range a.tests(f) {
				packages[pkg] = true
			}
		}
	}
	args := []string{"test", "-timeout", timeout.String()}
	if err := goCommand(ctx, append(args, slices.Sorted(maps.Keys(packages))...)...); err != nil {
		return fmt.Errorf("without any change: %w", err)
	}
	return nil
}

// judge runs the tests of the mutant's area until one fails.
func judge(ctx context.Context, c candidate, timeout time.Duration) (result, error) {
	r := result{Area: c.area.Name, ID: c.ID(), Where: c.String(), Verdict: survived}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, c.Mutant)
	if err != nil {
		return r, err
	}
	tests := c.area.tests(c.File)
	if err := goCommand(ctx, "build", "-overlay", overlay, tests[0]); err != nil {
		r.Verdict = invalid
		return r, ctx.Err()
	}
	for i, pkg := range tests {
		if slices.Contains(tests[:i], pkg) {
			continue
		}
		err := goCommand(ctx, "test", "-overlay", overlay, "-vet=off", "-failfast", "-timeout", timeout.String(), pkg)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			r.Verdict, r.By = noticed, pkg
			return r, nil
		}
	}
	return r, nil
}

// writeOverlay writes the changed file into dir, and the file for -overlay that puts it in place of the original.
func writeOverlay(dir string, m Mutant) (string, error) {
	src, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, m.Apply(src), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// goCommand returns an error if the command fails. The error contains the last lines of its output.
func goCommand(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("go %s: %s", strings.Join(args, " "), strings.Join(lines[max(0, len(lines)-5):], "\n"))
	}
	return err
}
