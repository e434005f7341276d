package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

const schedulerHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// TestSchedulerMistakes reads one file per mistake and wants the whole error.
func TestSchedulerMistakes(t *testing.T) {
	runPairs(t, "testdata/scheduler/mistakes.txtar", func(t *testing.T, given []byte) string {
		_, err := config.LoadScheduler("scheduler.yaml", append([]byte(schedulerHead), given...))
		return requireError(t, err)
	})
	runPairs(t, "testdata/scheduler/placement.txtar", func(t *testing.T, given []byte) string {
		_, err := config.Load("config.yaml", append([]byte(minimalConfig), given...))
		return requireError(t, err)
	})
	runPairs(t, "testdata/scheduler/policy.txtar", func(t *testing.T, given []byte) string {
		_, err := config.LoadPolicy("policy.json", given)
		return requireError(t, err)
	})
}

// TestSchedulerProfiles changes the default profile by a file.
func TestSchedulerProfiles(t *testing.T) {
	with := func(edit func(*scheduler.Profile)) scheduler.Profile {
		p := scheduler.DefaultProfile()
		edit(&p)
		return p
	}
	off := func(names ...scheduler.Filter) scheduler.Profile {
		return with(func(p *scheduler.Profile) { p.FiltersOff = names })
	}
	unknown := func(why string) scheduler.Profile {
		return with(func(p *scheduler.Profile) { p.Unknown = why })
	}
	for name, c := range map[string]struct {
		text string
		want scheduler.Profile
	}{
		"nothing":        {"", scheduler.DefaultProfile()},
		"leader and kin": {"leaderElection: {leaderElect: false}\nclientConnection: {kubeconfig: k}\nparallelism: 8\n", scheduler.DefaultProfile()},
		"a weight":       {"profiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}}]", with(func(p *scheduler.Profile) { p.Weights.PodTopologySpread = 5 })},
		"a weight everywhere": {"profiles: [{plugins: {multiPoint: {enabled: [{name: PodTopologySpread, weight: 5}]}}}]",
			with(func(p *scheduler.Profile) { p.Weights.PodTopologySpread = 5 })},
		"the point goes before everywhere": {"profiles: [{plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 5}]}, score: {enabled: [{name: ImageLocality, weight: 7}]}}}]",
			with(func(p *scheduler.Profile) { p.Weights.ImageLocality = 7 })},
		"no weight is one":   {"profiles: [{plugins: {score: {enabled: [{name: TaintToleration}]}}}]", with(func(p *scheduler.Profile) { p.Weights.TaintToleration = 1 })},
		"a score off":        {"profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]", with(func(p *scheduler.Profile) { p.Weights.ImageLocality = 0 })},
		"all scores off but": {"profiles: [{plugins: {score: {disabled: [{name: \"*\"}], enabled: [{name: NodeAffinity, weight: 3}]}}}]", with(func(p *scheduler.Profile) { p.Weights = scheduler.Weights{NodeAffinity: 3} })},
		"off and on is on":   {"profiles: [{plugins: {score: {disabled: [{name: NodeAffinity}], enabled: [{name: NodeAffinity, weight: 3}]}}}]", with(func(p *scheduler.Profile) { p.Weights.NodeAffinity = 3 })},
		"a plugin off": {"profiles: [{plugins: {multiPoint: {disabled: [{name: InterPodAffinity}]}}}]", with(func(p *scheduler.Profile) {
			p.Weights.InterPodAffinity = 0
			p.FiltersOff = []scheduler.Filter{"InterPodAffinity"}
		})},
		"a filter off": {"profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}, {name: NodePorts}]}}}]", off("NodePorts", "NodeResourcesFit")},
		"a half filter": {"profiles: [{plugins: {filter: {disabled: [{name: NodeAffinity}]}}}]", with(func(p *scheduler.Profile) {
			p.FiltersOff = []scheduler.Filter{"NodeAffinity"}
			p.Unknown = "its plugin NodeAffinity is enabled for only one of preFilter and filter, which is not modelled"
		})},
		"a score unprepared":       {"profiles: [{plugins: {preScore: {disabled: [{name: \"*\"}]}}}]", unknown("its plugin TaintToleration scores without its preScore, which is not modelled")},
		"another plugin":           {"profiles: [{plugins: {permit: {enabled: [{name: Coscheduling}]}}}]", unknown("its plugin Coscheduling is not modelled")},
		"another binder":           {"profiles: [{plugins: {bind: {disabled: [{name: \"*\"}]}}}]", unknown("its plugin DefaultBinder is disabled, which is not modelled")},
		"an extender":              {"extenders: [{urlPrefix: \"http://x:1/\", filterVerb: f}]", unknown("extender http://x:1/ is asked, which is not modelled")},
		"other plugins' arguments": {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 10}}, {name: Coscheduling, args: {any: 1}}]}]", scheduler.DefaultProfile()},
		"share of nodes":           {"percentageOfNodesToScore: 40\nprofiles: [{percentageOfNodesToScore: 30}]", with(func(p *scheduler.Profile) { p.PercentageOfNodesToScore = 30 })},
		"share of all":             {"percentageOfNodesToScore: 40", with(func(p *scheduler.Profile) { p.PercentageOfNodesToScore = 40 })},
		"most allocated": {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: memory}]}}}]}]",
			with(func(p *scheduler.Profile) {
				p.Fit = scheduler.ScoringStrategy{Type: scheduler.MostAllocated, Resources: []scheduler.ResourceWeight{{Name: "cpu", Weight: 3}, {Name: "memory", Weight: 1}}}
			})},
		"list of constraints": {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: PodTopologySpreadArgs, defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}]}]",
			with(func(p *scheduler.Profile) {
				p.SystemSpread = false
				p.DefaultSpread = []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}}
			})},
		"empty list": {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]}]", with(func(p *scheduler.Profile) { p.SystemSpread = false })},
		"affinity": {"profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}}]}]",
			with(func(p *scheduler.Profile) { p.HardPodAffinityWeight = 0; p.IgnorePreferredTerms = true })},
		"load packing": {"profiles: [{plugins: {score: {disabled: [{name: NodeResourcesFit}], enabled: [{name: TargetLoadPacking, weight: 2}]}}, pluginConfig: [{name: TargetLoadPacking, args: {targetUtilization: 70, defaultRequestsMultiplier: \"2\", defaultRequests: {cpu: 2000m}, watcherAddress: http://w:2020}}]}]",
			with(func(p *scheduler.Profile) {
				p.Weights.ResourcesFit = 0
				p.Packing = &scheduler.TargetLoadPacking{Weight: 2, Target: 70, DefaultMilliCPU: 2000, Factor: 2}
			})},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.LoadScheduler("s", []byte(schedulerHead+c.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(map[string]scheduler.Profile{"default-scheduler": c.want}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSeveralProfiles: each schedulerName has its own.
func TestSeveralProfiles(t *testing.T) {
	got, err := config.LoadScheduler("s", []byte(schedulerHead+"profiles:\n- schedulerName: a\n- {schedulerName: b, plugins: {score: {enabled: [{name: LowRiskOverCommitment}]}}}\n"))
	if err != nil || len(got) != 2 || got["a"].Unknown != "" || got["b"].Unknown != "its plugin LowRiskOverCommitment is not modelled" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPolicyProfile: a legacy Policy is turned into scores and filters.
func TestPolicyProfile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want func(*scheduler.Profile)
	}{
		"defaults": {"", func(*scheduler.Profile) {}},
		"priorities": {"priorities: [{name: LeastRequestedPriority, weight: 2}, {name: zone, weight: 3, argument: {serviceAntiAffinity: {label: zone}}}, {name: hdd, weight: 1, argument: {labelPreference: {label: hdd, presence: false}}}]\nhardPodAffinitySymmetricWeight: 10\n",
			func(p *scheduler.Profile) {
				p.HardPodAffinityWeight = 10
				p.Policy = &scheduler.Policy{HardPodAffinityWeight: 10, Priorities: []scheduler.Priority{{Name: "LeastRequestedPriority", Weight: 2},
					{Name: "zone", Weight: 3, AntiAffinityLabel: "zone"}, {Name: "hdd", Weight: 1, PreferLabel: "hdd", PreferAbsent: true}}}
			}},
		"predicates": {"predicates: [{name: GeneralPredicates}, {name: CheckVolumeBinding}, {name: NoDiskConflict}, {name: MaxCSIVolumeCountPred}, {name: NoVolumeZoneConflict}, {name: on, argument: {labelsPresence: {labels: [ok], presence: true}}}]",
			func(p *scheduler.Profile) {
				p.FiltersOff = []scheduler.Filter{"PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"}
				p.AddedAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "ok", Operator: corev1.NodeSelectorOpExists}}}}}}
			}},
		"extenders": {"extenders: [{urlPrefix: http://x}]", func(p *scheduler.Profile) { p.Unknown = "extender http://x is asked, which is not modelled" }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.LoadPolicy("p", []byte("kind: Policy\napiVersion: v1\n"+c.text))
			if err != nil {
				t.Fatal(err)
			}
			want := scheduler.PolicyProfile(scheduler.DefaultPolicy())
			c.want(&want)
			if d := cmp.Diff(want, got.Profile()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestPlacementSection: the planner gets the profiles, files are found beside the
// configuration, and their content is part of the hash.
func TestPlacementSection(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.yaml", minimalConfig+`placement:
  schedulerConfig: scheduler.yaml
  profiles:
  - {schedulerName: packer, score: mostAllocated, weights: {ImageLocality: 0}}
  - {schedulerName: trimaran, score: targetLoadPacking, targetLoadPacking: {targetUtilization: 0.7, requestFactor: 2}, weights: {TargetLoadPacking: 3}}
  - {schedulerName: old, score: policy, policy: policy.json}
`)
	write("scheduler.yaml", schedulerHead+"profiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}}]\n")
	write("policy.json", "{\n\t\"kind\": \"Policy\", \"apiVersion\": \"v1\", \"priorities\": []}")
	load := func() *config.Config {
		t.Helper()
		c, err := config.LoadFile(filepath.Join(dir, "config.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := load()
	want := map[string]scheduler.Profile{
		"default-scheduler": scheduler.DefaultProfile(), "packer": scheduler.MostAllocatedProfile(),
		"trimaran": scheduler.PackingProfile(scheduler.TargetLoadPacking{Weight: 3, Target: 70, DefaultMilliCPU: 1000, Factor: 2}),
		"old":      scheduler.PolicyProfile(scheduler.Policy{HardPodAffinityWeight: 1}),
	}
	spread, packer := want["default-scheduler"], want["packer"]
	spread.Weights.PodTopologySpread, packer.Weights.ImageLocality = 5, 0
	want["default-scheduler"], want["packer"] = spread, packer
	if d := cmp.Diff(want, c.PlannerOptions().Placement.Profiles); d != "" {
		t.Error(d)
	}
	before := c.Hash()
	write("policy.json", `{"kind": "Policy", "apiVersion": "v1", "priorities": null}`)
	if after := load().Hash(); after == before {
		t.Error("another policy has the same hash")
	}
}

func FuzzLoadScheduler(f *testing.F) {
	f.Add([]byte(schedulerHead + "profiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = config.LoadScheduler("f", b)
		if p, err := config.LoadPolicy("f", b); err == nil {
			p.Profile()
		}
	})
}
