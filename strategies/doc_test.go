package strategies_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
)

// TestEveryArgumentIsDocumented checks that the section of each type in docs/reference/strategies.md has a row for each
// argument, and no other rows, and that New knows each argument.
func TestEveryArgumentIsDocumented(t *testing.T) {
	doc := must.Get(os.ReadFile("../docs/reference/strategies.md"))(t)
	for _, d := range strategies.All {
		_, section, found := strings.Cut(string(doc), "\n## "+d.Type+"\n")
		if !found {
			t.Errorf("docs/reference/strategies.md has no section about %s", d.Type)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		names := strategies.Arguments(d.Type)
		for _, name := range names {
			if !strings.Contains(section, "\n| `"+name+"` |") {
				t.Errorf("the section of %s has no row for %s", d.Type, name)
			}
			if _, errs := d.New("s", fmt.Appendf(nil, `{"%s":null}`, name), cluster.Scope{}); strings.Contains(fmt.Sprint(errs), "unknown argument") {
				t.Errorf("%s: %v", d.Type, errs)
			}
		}
		for line := range strings.Lines(section) {
			rest, isRow := strings.CutPrefix(line, "| `")
			if name, _, ok := strings.Cut(rest, "` |"); isRow && ok && !slices.Contains(names, name) {
				t.Errorf("the section of %s describes %s, which is no argument", d.Type, name)
			}
		}
	}
}

// TestEveryStateIsDocumented checks that the section of Lifetime lists every state that it accepts.
func TestEveryStateIsDocumented(t *testing.T) {
	doc := must.Get(os.ReadFile("../docs/reference/strategies.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n## Lifetime\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, state := range podfilter.States() {
		if !strings.Contains(section, "`"+state+"`") {
			t.Errorf("the section of Lifetime does not list the state %s", state)
		}
	}
}
