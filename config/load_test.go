package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

const minimalConfig = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"

func TestConfigFileMatchesDefaults(t *testing.T) {
	shipped := must.Get(config.LoadFile("../config.yaml"))(t)
	if len(shipped.Strategies) != 3 {
		t.Errorf("%d strategies, want 3", len(shipped.Strategies))
	}
	shipped.Preset, shipped.Strategies = config.Presets{}, nil
	want := must.Get(config.Load("minimal", []byte(minimalConfig)))(t)
	want.Strategies = nil
	a, _ := json.Marshal(shipped)
	b, _ := json.Marshal(want)
	if d := cmp.Diff(string(b), string(a)); d != "" {
		t.Errorf("config.yaml differs from the built-in defaults:\n%s", d)
	}
}

// TestMistakes loads a file with each mistake, and compares the complete error.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		golden.Pairs(t, file, func(t *testing.T, given []byte) string {
			_, err := config.Load("config.yaml", append([]byte(minimalConfig), given...))
			return golden.ErrorText(t, err)
		})
	}
}

func TestWholeFileMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "the file is empty"},
		"only comments": {"# nothing\n", "the file is empty"},
		"a list":        {"- a\n", "want keys and values, found a list"},
		"two documents": {minimalConfig + "---\na: b\n", "more than one document"},
		"broken YAML":   {"a: [\n", "config.yaml: broken YAML: line 1"},
		"aliases":       {minimalConfig + "limits: &l {perPass: 1}\nwindows: *l\n", "config.yaml:4: aliases are not supported"},
		"merge keys": {minimalConfig + "preset: relieve\nstrategies: {hot-nodes: {args: {\n<<: {target: {cpu: 0.99}}}}}\n",
			"config.yaml:5: merge keys (<<) are not supported; write the keys out"},
		"tagged merge keys": {minimalConfig + "strategies: {s: {args: {\n!!merge <<: {target: {cpu: 0.99}}}}}\n",
			"config.yaml:4: merge keys (<<) are not supported"},
		"quoted merge keys": {minimalConfig + "strategies: {s: {type: NodeLoad, args: {\n\"<<\": {}}}}\n", "config.yaml:4: strategies.s.args.<<: unknown"},
		"wrong version":     {"apiVersion: v1\nkind: RebalanceConfig\n", "config.yaml:1: apiVersion: want evenkeel.io/v1alpha1"},
		"no kind":           {"apiVersion: evenkeel.io/v1alpha1\n", "kind: want RebalanceConfig"},
		"a policy": {"profiles: []\nkind: DeschedulerPolicy\n",
			"config.yaml: this is a DeschedulerPolicy; `evenkeel config convert` converts it"},
		"a policy without kind": {"apiVersion: descheduler/v1alpha2\n", "this is a DeschedulerPolicy"},
		"values of the descheduler": {"kind: CronJob\ndeschedulerPolicy: {}\n",
			"contains values of the descheduler's chart (key deschedulerPolicy); `evenkeel config convert` converts them"},
		"values of the chart": {"kind: Deployment\nconfig: {dryRun: true}\n",
			"contains values of a chart (key config); want a config.yaml, which is the part below config"},
		"an unknown key config": {minimalConfig + "config: {}\n", "config.yaml:3: config: unknown key"},
		"too large":             {minimalConfig + strings.Repeat("# padding\n", 200000), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := config.Load("config.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestHashIgnoresFormatting(t *testing.T) {
	load := func(s string) string {
		c := must.Get(config.Load("c", []byte(minimalConfig+s)))(t)
		return c.Hash()
	}
	plain := load("limits: {perPass: 7}\nguards: {minPodAge: 60s}\n")
	if same := load("# a comment\nguards:\n  minPodAge: 1m\nlimits:\n  perPass: 7\n"); same != plain {
		t.Error("comments, key order or number formats changed the hash, want the same hash")
	}
	if other := load("limits: {perPass: 8}\nguards: {minPodAge: 60s}\n"); other == plain {
		t.Error("a changed limit gives the same hash, want a different hash")
	}
}

// TestPlanHashCoversPlanningKeys checks that every top-level key except dryRun, preset and those about people and plans
// changes the hash of plans, and that dryRun changes the hash of the configuration.
func TestPlanHashCoversPlanningKeys(t *testing.T) {
	shapes := map[string]func(*config.Config){
		"TimeZone":            func(c *config.Config) { c.TimeZone = "Europe/Berlin" },
		"NodeSelector":        func(c *config.Config) { c.NodeSelector = "pool=a" },
		"VirtualNodeSelector": func(c *config.Config) { c.VirtualNodeSelector = "pool=a" },
		"Namespaces":          func(c *config.Config) { c.Namespaces.Exclude = nil },
		"TrustedNamespaces":   func(c *config.Config) { c.TrustedNamespaces = []string{"vms"} },
		"Load":                func(c *config.Config) { c.Load.Statistic = "max" },
		"Hints":               func(c *config.Config) { c.Hints.Enabled = true },
		"Strategies":          func(c *config.Config) { c.Strategies = []config.Strategy{{Name: "zones"}} },
		"Impact":              func(c *config.Config) { c.Impact.UtilizationLimit = 0.5 },
		"Guards":              func(c *config.Config) { c.Guards.MinReplicas = 3 },
		"Limits":              func(c *config.Config) { c.Limits.PerHour.Owner = plan.Absolute(1) },
		"Windows":             func(c *config.Config) { c.Windows.Deny = []config.Window{{Schedule: "0 8 * * *"}} },
		"Evictor":             func(c *config.Config) { c.Evictor.Steer = "taint" },
		"Placement":           func(c *config.Config) { c.Placement.SchedulerConfig = "f" },
	}
	before := config.Default().PlanHash()
	fields := reflect.TypeFor[config.Config]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if change := shapes[name]; change != nil {
			c := config.Default()
			if change(c); c.PlanHash() == before {
				t.Errorf("a changed %s gives the same hash, want a different hash", name)
			}
		} else if fields.Field(i).IsExported() && !slices.Contains([]string{"APIVersion", "Kind", "DryRun", "Web", "Approvals", "History", "Notify", "Preset"}, name) {
			t.Errorf("%s: add this key to the test, or to the keys that do not change the hash", name)
		}
	}
	live := config.Default()
	if live.DryRun = !live.DryRun; live.PlanHash() != before || live.DryRun {
		t.Errorf("with dryRun %t the hash of plans is %s, want %s", live.DryRun, live.PlanHash(), before)
	}
	if live.Hash() == config.Default().Hash() {
		t.Error("dryRun does not change the hash of the configuration")
	}
}

func FuzzLoad(f *testing.F) {
	shipped := must.Get(os.ReadFile("../config.yaml"))(f)
	f.Add(shipped)
	f.Add([]byte(minimalConfig + "strategies: {a: {args: {a: [1, {b: c}]}}}\n"))
	f.Add([]byte(minimalConfig + "limits: &l {perPass: *l}\n"))
	f.Add([]byte(minimalConfig + "? [a]\n: b\n"))
	a := must.Get(txtar.ParseFile("testdata/mistakes.txtar"))(f)
	for i := 0; i+1 < len(a.Files); i += 2 {
		f.Add(append([]byte(minimalConfig), a.Files[i].Data...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := config.Load("f", b); err == nil {
			c.BuildStrategies()
			c.PlannerOptions()
		}
	})
}

// TestDefaultsMatchOtherPackages checks that this package and other packages have equal defaults.
func TestDefaultsMatchOtherPackages(t *testing.T) {
	c := config.Default()
	if got := c.BreakerOptions(); got != breaker.DefaultOptions() {
		t.Errorf("breaker: %+v", got)
	}
	o := c.PlannerOptions()
	if o.Breaker != c.BreakerOptions() {
		t.Errorf("the planner's: %+v", o.Breaker)
	}
}
