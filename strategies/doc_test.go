package strategies_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/antiaffinity"
	"github.com/evenkeel-project/evenkeel/strategies/duplicates"
	"github.com/evenkeel-project/evenkeel/strategies/failedpods"
	"github.com/evenkeel-project/evenkeel/strategies/lifetime"
	"github.com/evenkeel-project/evenkeel/strategies/nodeaffinity"
	"github.com/evenkeel-project/evenkeel/strategies/nodeconsolidation"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/strategies/nodetaints"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
	"github.com/evenkeel-project/evenkeel/strategies/restarts"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
	"github.com/evenkeel-project/evenkeel/strategies/zonespread"
)

// argTypes are the arguments of each type of strategy.
var argTypes = map[string]reflect.Type{
	"ZoneSpread":           reflect.TypeFor[zonespread.Args](),
	"TopologySpread":       reflect.TypeFor[topologyspread.Args](),
	"Duplicates":           reflect.TypeFor[duplicates.Args](),
	"InterPodAntiAffinity": reflect.TypeFor[antiaffinity.Args](),
	"NodeLoad":             reflect.TypeFor[nodeload.Args](),
	"Restarts":             reflect.TypeFor[restarts.Args](),
	"Lifetime":             reflect.TypeFor[lifetime.Args](),
	"FailedPods":           reflect.TypeFor[failedpods.Args](),
	"NodeAffinity":         reflect.TypeFor[nodeaffinity.Args](),
	"NodeConsolidation":    reflect.TypeFor[nodeconsolidation.Args](),
	"NodeTaints":           reflect.TypeFor[nodetaints.Args](),
}

// TestEveryArgumentIsDocumented checks that the section of each type in docs/reference/strategies.md has a row for each
// argument, and no other rows.
func TestEveryArgumentIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/reference/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range strategies.All {
		typ, known := argTypes[d.Type]
		_, section, found := strings.Cut(string(doc), "\n## "+d.Type+"\n")
		if !known || !found {
			t.Errorf("%s: argTypes has it: %v, docs/reference/strategies.md has a section: %v", d.Type, known, found)
			continue
		}
		if d.Args != typ {
			t.Errorf("%s: the definition has arguments of type %v, want %v", d.Type, d.Args, typ)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		keys := map[string]bool{}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			keys[name] = true
			if !strings.Contains(section, "\n| `"+name+"` |") {
				t.Errorf("the section of %s has no row for %s", d.Type, name)
			}
		}
		for line := range strings.Lines(section) {
			rest, isRow := strings.CutPrefix(line, "| `")
			if name, _, ok := strings.Cut(rest, "` |"); isRow && ok && !keys[name] {
				t.Errorf("the section of %s describes %s, which is no argument", d.Type, name)
			}
		}
	}
}

// TestEveryStateIsDocumented checks that the section of Lifetime lists every state that it accepts.
func TestEveryStateIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/reference/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Lifetime\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, state := range podfilter.States() {
		if !strings.Contains(section, "`"+state+"`") {
			t.Errorf("the section of Lifetime does not list the state %s", state)
		}
	}
}
