package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestRead(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "charts/evenkeel/Chart.yaml"), "version: 9.9.9\nappVersion: 0.1.0\n")
	read := func(version string) Source {
		s, err := Read(t.Context(), root, version)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := read(""); s.Version != "0.1.0" || s.Revision != "unknown" || !s.Time.Equal(time.Unix(0, 0)) {
		t.Errorf("without git: %+v", s)
	}
	run(t, root, "git", "init", "-q")
	run(t, root, "git", "add", ".")
	run(t, root, "git", "commit", "-q", "-m", "first")
	commit := run(t, root, "git", "rev-parse", "HEAD")
	committed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if s := read("v1.2.3"); s.Version != "1.2.3" || s.Revision != commit || !s.Time.Equal(committed) || s.Dirty() {
		t.Errorf("of a commit: %+v", s)
	}
	run(t, root, "git", "config", "status.showUntrackedFiles", "no")
	writeFile(t, filepath.Join(root, "new.go"), "package x")
	if s := read(""); s.Revision != commit+"-dirty" || !s.Dirty() {
		t.Errorf("with a new file: %+v", s)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	if s := read(""); !s.Time.Equal(time.Unix(86400, 0)) {
		t.Errorf("with SOURCE_DATE_EPOCH: %+v", s)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := Read(t.Context(), root, ""); err == nil || err.Error() != `SOURCE_DATE_EPOCH: "yesterday" is no number of seconds since 1970` {
		t.Errorf("error %v", err)
	}
}

func TestAChartWithoutAVersion(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "charts/evenkeel/Chart.yaml"), "version: 9.9.9\n")
	if _, err := Read(t.Context(), root, ""); err == nil || !strings.HasSuffix(err.Error(), "Chart.yaml has no appVersion; set VERSION") {
		t.Errorf("error %v", err)
	}
}

func TestOfTag(t *testing.T) {
	for name, c := range map[string]struct{ tag, chart, want string }{
		"equal":                 {"v0.1.0", "version: 0.1.0\nappVersion: 0.1.0\n", ""},
		"without v":             {"0.1.0", "version: 0.1.0\nappVersion: 0.1.0\n", "the tag is 0.1.0, but "},
		"another version":       {"v0.2.0", "version: 0.1.0\nappVersion: 0.2.0\n", `the tag is v0.2.0, but version of the chart is "0.1.0"`},
		"another appVersion":    {"v0.2.0", "version: 0.2.0\nappVersion: 0.1.0\n", `the tag is v0.2.0, but appVersion of the chart is "0.1.0"`},
		"a chart of no version": {"v0.2.0", "appVersion: 0.2.0\n", `the tag is v0.2.0, but version of the chart is ""`},
	} {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "charts/evenkeel/Chart.yaml"), c.chart)
		version, err := OfTag(root, c.tag)
		if c.want == "" && (err != nil || version != "0.1.0") || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: version %q, error %v, want %q", name, version, err, c.want)
		}
	}
}

func TestVersionsThatAreNoTags(t *testing.T) {
	for _, version := range []string{"1.0 -X main.revision=x", "1.0+build", "-1", "a/b"} {
		if _, err := Read(t.Context(), t.TempDir(), version); err == nil || !strings.HasPrefix(err.Error(), "version ") {
			t.Errorf("%q: error %v", version, err)
		}
	}
}
