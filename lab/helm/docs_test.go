package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedValuesRender checks that helm accepts the values in the documentation unchanged. Of the documented
// steps with hints.yaml, only the last may give the account permission to evict.
func TestDocumentedValuesRender(t *testing.T) {
	for page, mark := range map[string]string{"hints.md": "# hints.yaml\n", "load.md": "extraVolumes:\n",
		"notifications.md": "extraVolumes:\n"} {
		text, err := os.ReadFile("../../docs/reference/" + page)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], mark) {
				continue
			}
			found = true
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{nil, {"--set", "config.dryRun=false"}} {
				out := renderChart(t, append([]string{"--values", file}, args...)...)
				if page == "hints.md" && strings.Contains(out, "pods/eviction") {
					t.Errorf("%s with %v: the account has permission to evict", page, args)
				}
			}
		}
		if !found {
			t.Errorf("%s has no YAML block that begins with %q", page, mark)
		}
	}
}
