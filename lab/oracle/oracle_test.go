package oracle

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

var (
	cases = flag.Int("oracle.cases", 50_000, "pods to place and compare; -short divides by ten")
	first = flag.Int64("oracle.seed", 0, "seed of the first cluster")
)

// run is what the comparison has seen.
type run struct {
	cases, verdicts, feasible, mismatches int
	decided                               map[string]int
	refused                               map[scheduler.Filter]int
}

// TestPlacementEqualsScheduler evicts every pod of random clusters, one at a
// time, and compares what is foretold of every node with the scheduler's own
// plugins, for a victim that terminates and for one that is gone. A case is one
// pod in one of the two states.
func TestPlacementEqualsScheduler(t *testing.T) {
	want := *cases
	if testing.Short() {
		want /= 10
	}
	s := newAsked(t)
	r := &run{decided: map[string]int{}, refused: map[scheduler.Filter]int{}}
	for seed := *first; r.cases < want && r.mismatches < 20; seed++ {
		r.compare(t, s, seed)
	}
	t.Logf("%d cases, %d verdicts on nodes (%d feasible), %d mismatches", r.cases, r.verdicts, r.feasible, r.mismatches)
	r.report(t, max(1, 50*want/50_000))
}

// report prints how often each feature decided and demands that it did.
func (r *run) report(t *testing.T, least int) {
	t.Helper()
	var names []string
	for _, f := range slices.Concat(podFeatures, volumeFeatures) {
		names = append(names, f.name)
	}
	for _, p := range scorePlugins {
		names = append(names, "score "+p)
	}
	names = append(names, "state of the victim")
	for _, name := range names {
		t.Logf("%-40s decided %6d", name, r.decided[name])
		if r.decided[name] < least && !idle[minor()][name] {
			t.Errorf("%s decided %d cases, want at least %d", name, r.decided[name], least)
		}
	}
	for _, f := range filters {
		t.Logf("%-40s refused %6d nodes first", f, r.refused[f])
		if r.refused[f] < least {
			t.Errorf("%s refused %d nodes, want at least %d", f, r.refused[f], least)
		}
	}
}

var filters = []scheduler.Filter{scheduler.NodeUnschedulable, scheduler.TaintToleration, scheduler.NodeAffinity, scheduler.NodePorts,
	scheduler.NodeResourcesFit, scheduler.VolumeRestrictions, scheduler.NodeVolumeLimits, scheduler.VolumeBinding, scheduler.VolumeZone,
	scheduler.PodTopologySpread, scheduler.InterPodAffinity, scheduler.NodeDeclaredFeatures, scheduler.NominatedPods}

var scorePlugins = []string{"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
	"NodeResourcesBalancedAllocation", "ImageLocality", "VolumeBinding"}

func (r *run) compare(t *testing.T, s asked, seed int64) {
	t.Helper()
	o := generate(seed)
	w := worldOf(t, o)
	if err := s.Load(objectsOf(o)); err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for i, p := range o.Pods {
		number[p.Namespace+"/"+p.Name] = i
	}
	var asked []cluster.PodID
	for i := range w.Snapshot().Pods {
		p := &w.Snapshot().Pods[i]
		if p.Terminating {
			continue
		}
		if why, ok := w.Supported(p.ID); !ok {
			t.Fatalf("cluster %d: %s is not supported: %s", seed, p.Object.Name, why)
		}
		asked = append(asked, p.ID)
		verdicts, pr := w.Explain(p.ID), w.Predict(p.ID)
		for _, gone := range []bool{false, true} {
			r.cases++
			want, err := s.Replace(t.Context(), number[p.Object.Namespace+"/"+p.Object.Name], gone)
			if err != nil {
				t.Fatalf("cluster %d, pod %s: %v", seed, p.Object.Name, err)
			}
			if diff := r.differ(want, verdicts, pr, w, gone); diff != "" {
				r.mismatches++
				t.Errorf("cluster %d, pod %s, gone %v: %s", seed, p.Object.Name, gone, diff)
			}
		}
	}
	r.count(t, o, w, asked)
}

func worldOf(t *testing.T, o *cluster.Objects) *placement.ClusterModel {
	t.Helper()
	snap, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return placement.NewClusterModel(snap, placement.Options{})
}

// differ says where the verdicts, or the prediction, are not what the scheduler
// finds.
func (r *run) differ(want map[string]real.Verdict, verdicts []placement.NodeVerdict, pr prediction.Prediction, w *placement.ClusterModel, gone bool) string {
	nodes := w.Snapshot().Nodes
	var feasible, winners []cluster.NodeID
	var best int64
	for _, v := range verdicts {
		if v.Gone != gone {
			continue
		}
		x := want[nodes[v.Node].Name]
		r.verdicts++
		r.refused[v.RefusedBy]++
		if diff := differ(v, x); diff != "" {
			return nodes[v.Node].Name + ": " + diff
		}
		if !x.Feasible {
			continue
		}
		r.feasible++
		feasible = append(feasible, v.Node)
		if x.Total > best || winners == nil {
			best, winners = x.Total, nil
		}
		if x.Total == best {
			winners = append(winners, v.Node)
		}
	}
	state := pr.Terminating
	if gone {
		state = pr.Gone
	}
	if !slices.Equal(state.Feasible, feasible) || !slices.Equal(state.Winners, winners) || state.Best != best {
		return fmt.Sprintf("foretold %v of %v at %d, the scheduler's are %v of %v at %d", state.Winners, state.Feasible, state.Best, winners, feasible, best)
	}
	return ""
}

func differ(got placement.NodeVerdict, want real.Verdict) string {
	if (got.RefusedBy == "") != want.Feasible {
		return fmt.Sprintf("refused by %q (%s), feasible for the scheduler: %v", got.RefusedBy, got.Why, want.Feasible)
	}
	for plugin := range want.Scores {
		if !slices.ContainsFunc(got.Scores, func(s placement.PluginScore) bool { return s.Plugin == plugin }) {
			return fmt.Sprintf("no score %s, the scheduler has %v", plugin, want.Scores)
		}
	}
	for _, s := range got.Scores {
		if s.Normalised*s.Weight != want.Scores[s.Plugin] {
			return fmt.Sprintf("%s scores %d x %d, the scheduler %d", s.Plugin, s.Normalised, s.Weight, want.Scores[s.Plugin])
		}
	}
	if got.Total != want.Total {
		return fmt.Sprintf("total %d, the scheduler's %d (%v)", got.Total, want.Total, want.Scores)
	}
	return ""
}
