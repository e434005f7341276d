package passes

import (
	"bytes"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var (
	long  = flag.Bool("long", false, "run all seeds at full size, and check the wanted limits instead of the current ones")
	nodes = flag.Int("nodes", 0, "number of nodes; 0 means the number in the scenario")
)

// scenarioFile is the content of a scenario.yaml.
type scenarioFile struct {
	Nodes, Pods int
	// ShortNodes is the number of nodes in the short form. Pods and churn shrink in proportion. The
	// flag -nodes overrides the number of nodes in both forms.
	ShortNodes int
	// Seeds is the number of seeds in the short form. 0 means that only the long form runs the scenario.
	Seeds, LongSeeds    int
	Passes, ShortPasses int
	EveryMinutes        int
	Noise               Noise
	// Churn is the rate per hour and per Deployment or node.
	Churn           Churn
	UnpredictedFrac float64
	OnePlan         bool
	Want            map[string]float64
	// Today holds the current limits of the figures that do not meet Want yet.
	Today map[string]float64
}

// TestScenarios runs the scenarios in testdata. Each file has a description, the changes of
// the cluster, the wanted limits and the configuration.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a := must.Get(txtar.ParseFile(name))(t)
			if len(bytes.TrimSpace(a.Comment)) == 0 {
				t.Error("the scenario has no description")
			}
			runScenario(t, a)
		})
	}
}

func runScenario(t *testing.T, a *txtar.Archive) {
	var f scenarioFile
	var conf *config.Config
	for _, x := range a.Files {
		var err error
		switch x.Name {
		case "scenario.yaml":
			err = yaml.UnmarshalStrict(x.Data, &f)
		case "config.yaml":
			conf, err = config.Load(x.Name, x.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	seeds := f.Seeds
	if *long {
		seeds = f.LongSeeds
	}
	if seeds == 0 {
		t.Skip("only the long form (make simulate) runs this scenario")
	}
	if f.ShortPasses > 0 && !*long {
		f.Passes = f.ShortPasses
	}
	if n := f.nodeCount(); n > 0 {
		f.Pods, f.Nodes = f.Pods*n/f.Nodes/20*20, n
	}
	worst := map[string]float64{}
	for seed := range seeds {
		begun := time.Now()
		rec := Start(f.scenario(uint64(seed)), conf).Run()
		t.Logf("seed %d: %d passes in %s\n%s", seed, f.Passes, time.Since(begun).Round(time.Millisecond), rec.Table())
		got := rec.Figures()
		if _, compares := f.Want["evictionsToQuiet"]; compares {
			quiet := f.scenario(uint64(seed))
			quiet.Noise = Noise{}
			still := Start(quiet, conf).Run()
			got["evictionsToQuiet"] = float64(rec.Evictions()) / float64(max(1, still.Evictions()))
			t.Logf("seed %d: %d evictions, %d without the noise", seed, rec.Evictions(), still.Evictions())
		}
		for k, v := range got {
			worst[k] = max(worst[k], v)
		}
	}
	if f.UnpredictedFrac > 0 && worst["landedElsewhere"] < f.UnpredictedFrac/4 {
		t.Errorf("only %.3f of the replacements landed elsewhere, which is too few for this scenario", worst["landedElsewhere"])
	}
	checkLimits(t, f, worst)
}

// nodeCount returns the number of nodes that overrides Nodes. 0 means no override.
func (f scenarioFile) nodeCount() int {
	switch {
	case *nodes > 0:
		return *nodes
	case *long:
		return 0
	}
	return f.ShortNodes
}

func (f scenarioFile) scenario(seed uint64) Scenario {
	apps := float64(f.Pods) / 20
	return Scenario{Nodes: f.Nodes, Pods: f.Pods, Seed: seed, Passes: f.Passes, EveryMinutes: f.EveryMinutes, Noise: f.Noise,
		UnpredictedFrac: f.UnpredictedFrac, OnePlan: f.OnePlan,
		Churn: Churn{Rollouts: f.Churn.Rollouts * apps, Scalings: f.Churn.Scalings * apps, Joins: f.Churn.Joins * float64(f.Nodes),
			Leaves: f.Churn.Leaves * float64(f.Nodes)}}
}

// checkLimits compares the worst figures of all seeds with Want in the long form, and with
// Today in the short form.
func checkLimits(t *testing.T, f scenarioFile, worst map[string]float64) {
	for k, wanted := range f.Want {
		got, known := worst[k]
		if !known {
			t.Errorf("the figure %s does not exist", k)
			continue
		}
		verdict := "met"
		if got > wanted {
			verdict = "NOT MET"
		}
		t.Logf("%-20s %8.4f, wanted at most %.4f: %s", k, got, wanted, verdict)
		if most := max(wanted, f.Today[k]); *long && got > wanted || !*long && got > most {
			t.Errorf("%s is %.4f, wanted at most %.4f", k, got, most)
		}
	}
}
