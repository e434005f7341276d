package oracle

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

var (
	caseCount = flag.Int("oracle.cases", 50_000, "pods to place and compare; -short divides by ten")
	firstSeed = flag.Int64("oracle.seed", 0, "seed of the first cluster")
)

// comparison counts the results of the comparison.
type comparison struct {
	cases, results, feasible, mismatches, unsupported int

	decidedBy  map[string]int
	rejectedBy map[scheduler.Filter]int
}

// TestPlacementEqualsScheduler evicts every pod of random clusters, one at a time. For every node, the test compares
// the prediction with the result of the scheduler's own plugins, both while the victim terminates and after it is
// deleted. A case is one evicted pod that is either terminating or deleted.
func TestPlacementEqualsScheduler(t *testing.T) {
	want := *caseCount
	if testing.Short() {
		want /= 10
	}
	s := newRealScheduler(t)
	r := &comparison{decidedBy: map[string]int{}, rejectedBy: map[scheduler.Filter]int{}}
	for seed := *firstSeed; r.cases < want && r.mismatches < 20; seed++ {
		r.compare(t, s, seed)
	}
	t.Logf("%d cases, %d node results (%d feasible), %d mismatches, %d pods not supported",
		r.cases, r.results, r.feasible, r.mismatches, r.unsupported)
	least := max(1, 50*want/50_000)
	if testing.Short() { // the cases of a feature come in few clusters
		least = 1
	}
	r.report(t, least)
}

// report prints how often each feature decided a case. Each feature must have decided enough cases.
func (r *comparison) report(t *testing.T, least int) {
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
		t.Logf("%-40s decided %6d", name, r.decidedBy[name])
		r.checkCount(t, "feature", name, r.decidedBy[name], least)
	}
	for _, f := range filters {
		t.Logf("%-40s rejected %6d nodes first", f, r.rejectedBy[f])
		r.checkCount(t, "plugin", string(f), r.rejectedBy[f], least)
	}
}

// checkCount checks that a feature or plugin decided often enough, and never with a scheduler that does not have it.
func (r *comparison) checkCount(t *testing.T, kind, name string, count, least int) {
	t.Helper()
	switch {
	case !decidingVersions[name].contains(schedulerMinor):
		if count > 0 {
			t.Errorf("%s %s decided %d times, but kube-scheduler %s does not have it", kind, name, count, serverVersion())
		}
	case count < least:
		t.Errorf("%s %s decided %d times, want at least %d", kind, name, count, least)
	}
}

var filters = []scheduler.Filter{scheduler.NodeUnschedulable, scheduler.TaintToleration, scheduler.NodeAffinity, scheduler.NodePorts,
	scheduler.NodeResourcesFit, scheduler.VolumeRestrictions, scheduler.NodeVolumeLimits, scheduler.VolumeBinding, scheduler.VolumeZone,
	scheduler.PodTopologySpread, scheduler.InterPodAffinity, scheduler.NodeDeclaredFeatures, scheduler.NominatedPods}

var scorePlugins = []string{"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
	"NodeResourcesBalancedAllocation", "ImageLocality", "VolumeBinding"}

func (r *comparison) compare(t *testing.T, s realScheduler, seed int64) {
	t.Helper()
	o := generateCluster(seed)
	w := newModel(t, o)
	if err := s.Load(toRealObjects(o)); err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for i, p := range o.Pods {
		number[p.Namespace+"/"+p.Name] = i
	}
	var asked []cluster.PodID
	for i := range w.Cluster.Snap.Pods {
		p := &w.Cluster.Snap.Pods[i]
		if p.Terminating {
			continue
		}
		if why, ok := w.Supported(p.ID); !ok && mayBeUnsupported(p.Object, why) {
			r.unsupported++
			continue
		} else if !ok {
			t.Fatalf("cluster %d: %s is not supported: %s", seed, p.Object.Name, why)
		}
		asked = append(asked, p.ID)
		results, pr := w.Explain(p.ID), w.Predict(p.ID)
		for _, gone := range []bool{false, true} {
			r.cases++
			want, err := s.Replace(t.Context(), number[p.Object.Namespace+"/"+p.Object.Name], gone)
			if err != nil {
				t.Fatalf("cluster %d, pod %s: %v", seed, p.Object.Name, err)
			}
			if diff := r.firstDifference(want, results, pr, w, gone); diff != "" {
				r.mismatches++
				t.Errorf("cluster %d, pod %s, victim deleted: %v: %s", seed, p.Object.Name, gone, diff)
			}
		}
	}
	r.countDeciding(t, o, w, asked)
}

// mayBeUnsupported reports whether a replacement of the generator need not be predicted. The pods are on nodes, so they
// matter for the replacements of other pods.
func mayBeUnsupported(p *corev1.Pod, why string) bool {
	switch {
	case strings.HasPrefix(why, "it is being resized in place"), strings.Contains(why, " is an in-tree volume"):
		return true
	case schedulerMinor >= 34 && schedulerMinor <= 36: // patch releases differ
		return changeTermsOf(&p.Spec, selectsWithoutLabels)
	}
	return false
}

func newModel(t *testing.T, o *cluster.Objects) *placement.ClusterModel {
	t.Helper()
	snap, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return placement.NewClusterModel(snap, placement.Options{})
}

// firstDifference describes the first difference between the predictions and the scheduler's results; empty for none.
func (r *comparison) firstDifference(want map[string]real.Verdict, results []placement.NodeVerdict, pr prediction.Prediction,
	w *placement.ClusterModel, gone bool) string {
	nodes := w.Cluster.Snap.Nodes
	var feasible, winners []cluster.NodeID
	var best int64
	for _, v := range results {
		if v.Gone != gone {
			continue
		}
		x := want[nodes[v.Node].Name]
		r.results++
		r.rejectedBy[v.RefusedBy]++
		if diff := verdictDifference(v, x); diff != "" {
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
		return fmt.Sprintf("predicted winners %v of nodes %v with score %d; the scheduler has winners %v of nodes %v with score %d",
			state.Winners, state.Feasible, state.Best, winners, feasible, best)
	}
	return ""
}

func verdictDifference(got placement.NodeVerdict, want real.Verdict) string {
	if (got.RefusedBy == "") != want.Feasible {
		return fmt.Sprintf("predicted rejection by %q (%s); the scheduler says feasible: %v", got.RefusedBy, got.Why, want.Feasible)
	}
	for plugin := range want.Scores {
		if !slices.ContainsFunc(got.Scores, func(s placement.PluginScore) bool { return s.Plugin == plugin }) {
			return fmt.Sprintf("predicted score of %s is missing, the scheduler has %v", plugin, want.Scores)
		}
	}
	for _, s := range got.Scores {
		if s.Normalised*s.Weight != want.Scores[s.Plugin] {
			return fmt.Sprintf("predicted score of %s is %d x %d, the scheduler has %d", s.Plugin, s.Normalised, s.Weight, want.Scores[s.Plugin])
		}
	}
	if got.Total != want.Total {
		return fmt.Sprintf("predicted total score is %d, the scheduler has %d (%v)", got.Total, want.Total, want.Scores)
	}
	return ""
}
