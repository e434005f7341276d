package planverifier_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

var twoPrograms = flag.String("programs", "", "OLD,NEW: two builds of evenkeel whose plans for -all-strategy-plans random clusters are compared")

// TestTwoProgramsPlanTheSame compares the plans of two builds of the program for random clusters with all strategies.
// It fails if the new program leaves more goals unmet: goals that only it leaves unmet, less those that only the old
// one leaves unmet. The log groups the different plans by the reasons that one of the programs gives more often.
func TestTwoProgramsPlanTheSame(t *testing.T) {
	before, after, two := strings.Cut(*twoPrograms, ",")
	if !two {
		t.Skip("without -args -programs OLD,NEW there are no two programs to compare")
	}
	same, onlyOld, onlyNew, groups := 0, 0, 0, map[string][]string{}
	for seed := range uint64(*allStrategyPlans) {
		m := makeAllCase(t, seed)
		snapshot, config := writeCase(t, m)
		a, b := planWith(t, before, snapshot, config), planWith(t, after, snapshot, config)
		x, y := movesOf(a), movesOf(b)
		if slices.Equal(x, y) && a.Bound.MinEvictions == b.Bound.MinEvictions && maps.Equal(a.Rejections.Counts, b.Rejections.Counts) {
			same++
			continue
		}
		lost, gained := unmetOnlyBy(b, a), unmetOnlyBy(a, b)
		group := changedCounts(a.Rejections.Counts, b.Rejections.Counts)
		groups[group] = append(groups[group], fmt.Sprintf("seed %d: %d and %d moves, unmet only by the new program: %v, only by the old: %v",
			seed, len(x), len(y), lost, gained))
		onlyOld, onlyNew = onlyOld+len(gained), onlyNew+len(lost)
		if len(lost) > len(gained) {
			t.Errorf("seed %d: the new program leaves more goals unmet: %v, the old one %v (%s)", seed, lost, gained, group)
		}
	}
	t.Logf("%d plans, %d the same; goals unmet only by the old program %d, only by the new one %d", *allStrategyPlans, same, onlyOld, onlyNew)
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		t.Logf("%s\n  %s", group, strings.Join(groups[group], "\n  "))
	}
}

// unmetOnlyBy describes the goals of both plans that only the first leaves unmet. Their numbers may differ.
func unmetOnlyBy(a, b plan.Plan) (out []string) {
	name := func(g plan.Goal) string {
		return fmt.Sprintf("%s %s %s/%s %s%s", g.Strategy, g.Kind, g.Subject.Namespace, g.Subject.Name, g.Resource, g.TopologyKey)
	}
	met := map[string]bool{}
	for _, g := range b.Goals {
		met[name(g)] = b.After.Excess[g.ID] == 0
	}
	for _, g := range a.Goals {
		if a.After.Excess[g.ID] > 0 && met[name(g)] {
			out = append(out, name(g))
		}
	}
	slices.Sort(out)
	return out
}

// writeCase writes the snapshot, with the planner state, and the configuration as files.
func writeCase(t *testing.T, m modeCase) (snapshot, config string) {
	t.Helper()
	dir := t.TempDir()
	state := m.past
	state.APIVersion, state.Kind = plan.APIVersion, "PlannerState"
	o := *m.o
	var err error
	if o.PlannerState, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	snapshot, config = filepath.Join(dir, "snapshot.json"), filepath.Join(dir, "config.yaml")
	f, err := os.Create(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, cluster.Write(f, &o, cluster.JSON))
	must.Succeed(t, f.Close())
	must.Succeed(t, os.WriteFile(config, []byte(m.text), 0o600))
	return snapshot, config
}

func planWith(t *testing.T, program, snapshot, config string) (p plan.Plan) {
	t.Helper()
	cmd := exec.Command(program, "plan", "-f", snapshot, "--config", config, "-o", "json")
	cmd.Stderr = &strings.Builder{}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", program, err, cmd.Stderr)
	}
	must.Succeed(t, json.Unmarshal(out, &p))
	return p
}

// movesOf lists the moves of the plan and its proposals.
func movesOf(p plan.Plan) (out []string) {
	for _, of := range append([]plan.Proposal{{Plan: p}}, p.Proposals...) {
		for _, m := range of.Plan.Moves {
			out = append(out, fmt.Sprintf("%s %s: %s from %s to %s in wave %d, %v", of.Mode, m.Strategy, m.Pod, m.From, m.To, m.Wave, m.Confidence))
		}
	}
	return out
}

// changedCounts describes the codes that one of the plans counts more often, such as "more NoTargetFits, fewer
// WouldReturn".
func changedCounts(a, b map[plan.Code]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(b)) {
		if b[code] > a[code] {
			out = append(out, "more "+string(code))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(a)) {
		if a[code] > b[code] {
			out = append(out, "fewer "+string(code))
		}
	}
	if len(out) == 0 {
		return "the same reasons"
	}
	return strings.Join(out, ", ")
}
