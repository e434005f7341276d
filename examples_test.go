package evenkeel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// examplesWithMoves are examples of which each move has another reason: one move for each kind of trouble.
var examplesWithMoves = map[string][]string{
	"busy-network":   {"sends-6c8f-01 NodeOverUtilized"},
	"uneven-pods":    {"api-6c8f-00 TooManyDuplicates", "cache-6c8f-01 AntiAffinityViolated", "web-6c8f-00 SpreadConstraintViolated"},
	"unhealthy-pods": {"crash-6c8f-00 TooManyRestarts", "old-6c8f-01 PodExpired", "web-6c8f-02 PodFailed"},
}

// TestExamplesWithMoves checks that each trouble of the examples causes one move.
func TestExamplesWithMoves(t *testing.T) {
	for name, want := range examplesWithMoves {
		c, err := config.LoadFile("examples/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range planFor(t, "examples/"+name+"-cluster.yaml", c).Moves {
			got = append(got, m.Pod.Name+" "+string(m.Reason.Code))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || !c.DryRun {
			t.Errorf("%s: dryRun %t, moves %q, want %q", name, c.DryRun, got, want)
		}
	}
}

// TestEveryStrategyHasAnExample checks that a configuration in examples uses each type of strategy,
// that examples/README.md names each file, and that docs/strategies.md has a paragraph about each
// type.
func TestEveryStrategyHasAnExample(t *testing.T) {
	readFile := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	readme, page := readFile("examples/README.md"), readFile("docs/strategies.md")
	shown := map[string]bool{"ZoneSpread": true} // the built-in configuration has one, for examples/three-zones.yaml
	for _, f := range files {
		if base := filepath.Base(f); !strings.Contains(readme, "("+base+")") {
			t.Errorf("examples/README.md does not name %s", base)
		}
		if !strings.Contains(readFile(f), "kind: RebalanceConfig") {
			continue
		}
		c, err := config.LoadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Strategies {
			shown[s.Type] = true
		}
	}
	for _, typ := range strategies.Types() {
		if !shown[typ] {
			t.Errorf("no configuration in examples has a strategy of type %s", typ)
		}
		if !strings.Contains(page, "[**"+typ+"**](reference/strategies.md#"+strings.ToLower(typ)+")") {
			t.Errorf("docs/strategies.md has no paragraph about %s", typ)
		}
	}
}
