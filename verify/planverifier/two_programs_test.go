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

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
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
		if slices.Equal(x, y) && maps.Equal(countsOf(a), countsOf(b)) {
			same++
			continue
		}
		lost, gained := unmetOnlyBy(b, a), unmetOnlyBy(a, b)
		group := changedCounts(countsOf(a), countsOf(b))
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
func unmetOnlyBy(a, b []v1alpha1.RebalancePlan) (out []string) {
	name := func(g *v1alpha1.Goal) string {
		return fmt.Sprintf("%s %s %s/%s %s%s", g.Strategy, g.Kind, g.Subject.Namespace, g.Subject.Name, g.Resource, g.TopologyKey)
	}
	met := map[string]bool{}
	for _, o := range b {
		for i := range o.Spec.Goals {
			met[name(&o.Spec.Goals[i])] = o.Spec.Goals[i].ExcessAfter == ""
		}
	}
	for _, o := range a {
		for i := range o.Spec.Goals {
			if g := &o.Spec.Goals[i]; g.ExcessAfter != "" && met[name(g)] {
				out = append(out, name(g))
			}
		}
	}
	slices.Sort(out)
	return out
}

// countsOf returns the lower bound on evictions, and counts the pods that stay by code.
func countsOf(all []v1alpha1.RebalancePlan) map[string]int {
	out := map[string]int{}
	for _, o := range all {
		out["minimum"] += int(o.Spec.Minimum.Evictions)
		for _, n := range o.Spec.NotMoved {
			out[n.Code] += int(n.Pods)
		}
	}
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

func planWith(t *testing.T, program, snapshot, config string) []v1alpha1.RebalancePlan {
	t.Helper()
	cmd := exec.Command(program, "plan", "-f", snapshot, "--config", config, "-o", "json")
	cmd.Stderr = &strings.Builder{}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", program, err, cmd.Stderr)
	}
	var list v1alpha1.RebalancePlanList
	must.Succeed(t, json.Unmarshal(out, &list))
	if list.Kind == "RebalancePlan" {
		list.Items = make([]v1alpha1.RebalancePlan, 1)
		must.Succeed(t, json.Unmarshal(out, &list.Items[0]))
	}
	return list.Items
}

// movesOf lists the moves of the plans.
func movesOf(all []v1alpha1.RebalancePlan) (out []string) {
	for _, o := range all {
		for _, m := range o.Spec.Moves {
			out = append(out, fmt.Sprintf("%s %s: %s/%s from %s to %s in wave %d, %d", o.Spec.Mode, m.Strategy, m.Pod.Namespace, m.Pod.Name, m.From,
				m.To, m.Wave, m.ConfidencePerMille))
		}
	}
	return out
}

// changedCounts describes the codes that one of the plans counts more often, such as "more NoTargetFits, fewer
// WouldReturn".
func changedCounts(a, b map[string]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(b)) {
		if b[code] > a[code] {
			out = append(out, "more "+code)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(a)) {
		if a[code] > b[code] {
			out = append(out, "fewer "+code)
		}
	}
	if len(out) == 0 {
		return "the same reasons"
	}
	return strings.Join(out, ", ")
}
