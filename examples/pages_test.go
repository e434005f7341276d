package examples

import (
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
)

// TestPagesShowConfigurations checks that config.Load accepts the configurations of pages for newcomers, below
// `config:` or by itself.
func TestPagesShowConfigurations(t *testing.T) {
	for page, begins := range map[string]string{"docs/getting-started.md": "config:\n  ", "docs/strategies.md": "preset:"} {
		_, values, found := strings.Cut(readText(t, page), "\n```yaml\n"+begins)
		if !found {
			t.Fatalf("%s has no configuration", page)
		}
		values, _, _ = strings.Cut(begins+values, "\n```")
		if below, nested := strings.CutPrefix(values, "config:\n"); nested {
			values = regexp.MustCompile(`(?m)^  `).ReplaceAllString(below, "")
		}
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n" + values
		if _, err := config.Load("config.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v in:\n%s", page, err, text)
		}
	}
}
