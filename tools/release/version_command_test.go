package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func writeText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestAReleaseNeedsACommit checks that the files of a release are those of a commit.
func TestAReleaseNeedsACommit(t *testing.T) {
	root := t.TempDir()
	writeText(t, filepath.Join(root, "charts/evenkeel/Chart.yaml"), "version: 0.1.0\nappVersion: 0.1.0\n")
	args := []string{"-root", root, "-tag", "v0.1.0"}
	if err := runVersion(t.Context(), args); err == nil || !strings.HasPrefix(err.Error(), "the revision is unknown: ") {
		t.Errorf("without git: error %v", err)
	}
	runGit(t, root, "init", "-q")
	runGit(t, root, "add", ".")
	runGit(t, root, "commit", "-q", "-m", "first")
	if err := runVersion(t.Context(), args); err != nil {
		t.Errorf("of a commit: %v", err)
	}
	writeText(t, filepath.Join(root, "new.go"), "package x")
	if err := runVersion(t.Context(), args); err == nil || !strings.Contains(err.Error(), "-dirty: a release needs a clone") {
		t.Errorf("with a new file: error %v", err)
	}
}

// TestNotes checks that the notes of a release are one section of the changelog.
func TestNotes(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\n- next\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n\n- old\n\n## 0.0.1\n"
	for version, want := range map[string]string{"0.2.0": "- new", "0.1.0": "- old", "0.0.1": "", "0.3.0": "", "": ""} {
		got, err := notes(changelog, version)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("version %q: %q, error %v, want %q", version, got, err, want)
		}
	}
}
