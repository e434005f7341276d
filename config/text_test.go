package config_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestText checks that the text of a configuration has the keys of the file, and neither comments nor URLs of notify.
func TestText(t *testing.T) {
	c := must.Get(config.Load("config.yaml", []byte(`# a comment
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: true # another one
notify:
- {name: chat, format: json, url: "https://hooks.example/secret"}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`)))(t)
	want := `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: true
notify:
  - {name: chat, format: json, url: "(left out)"}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`
	if got := c.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if c.Hash() == "" || config.Default().Text() != "" {
		t.Error("a configuration that no file contains has a text")
	}
}
