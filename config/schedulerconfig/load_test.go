package schedulerconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// TestMistakes loads a file with each mistake, and compares the complete error.
func TestMistakes(t *testing.T) {
	golden.Pairs(t, "testdata/mistakes.txtar", func(t *testing.T, given []byte) string {
		_, err := schedulerconfig.Load("scheduler.yaml", append([]byte(header), given...))
		return golden.ErrorText(t, err)
	})
}

// TestSchedulerProfiles checks how settings of a file change the default profile.
func TestSchedulerProfiles(t *testing.T) {
	with := func(edit func(*scheduler.Profile)) scheduler.Profile {
		p := scheduler.DefaultProfile()
		edit(&p)
		return p
	}
	off := func(names ...scheduler.Filter) scheduler.Profile {
		return with(func(p *scheduler.Profile) { p.DisabledFilters = names })
	}
	unknown := func(why string) scheduler.Profile {
		return with(func(p *scheduler.Profile) { p.UnsupportedReason = why })
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
			p.DisabledFilters = []scheduler.Filter{"InterPodAffinity"}
		})},
		"a filter off": {"profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}, {name: NodePorts}]}}}]", off("NodePorts", "NodeResourcesFit")},
		"a half filter": {"profiles: [{plugins: {filter: {disabled: [{name: NodeAffinity}]}}}]", with(func(p *scheduler.Profile) {
			p.DisabledFilters = []scheduler.Filter{"NodeAffinity"}
			p.UnsupportedReason = "its plugin NodeAffinity is enabled for only one of preFilter and filter, which is not supported"
		})},
		"a score unprepared":       {"profiles: [{plugins: {preScore: {disabled: [{name: \"*\"}]}}}]", unknown("its plugin TaintToleration is enabled for score but not for preScore, which is not supported")},
		"another plugin":           {"profiles: [{plugins: {permit: {enabled: [{name: Coscheduling}]}}}]", unknown("its plugin Coscheduling is not supported")},
		"another binder":           {"profiles: [{plugins: {bind: {disabled: [{name: \"*\"}]}}}]", unknown("its plugin DefaultBinder is disabled, which is not supported")},
		"an extender":              {"extenders: [{urlPrefix: \"http://x:1/\", filterVerb: f}]", unknown("extender http://x:1/ influences placement, which is not supported")},
		"other plugins' arguments": {"profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 10}}, {name: Coscheduling, args: {any: 1}}]}]", scheduler.DefaultProfile()},
		"share of nodes":           {"percentageOfNodesToScore: 40\nprofiles: [{percentageOfNodesToScore: 30}]", with(func(p *scheduler.Profile) { p.PercentageOfNodesToScore = 30 })},
		"share of all":             {"percentageOfNodesToScore: 40", with(func(p *scheduler.Profile) { p.PercentageOfNodesToScore = 40 })},
		"most allocated": {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: memory}]}}}]}]",
			with(func(p *scheduler.Profile) {
				p.FitStrategy = scheduler.ScoringStrategy{Type: scheduler.MostAllocated, Resources: []scheduler.ResourceWeight{{Name: "cpu", Weight: 3}, {Name: "memory", Weight: 1}}}
			})},
		"list of constraints": {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: PodTopologySpreadArgs, defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}]}]",
			with(func(p *scheduler.Profile) {
				p.SystemDefaultSpread = false
				p.DefaultSpread = []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}}
			})},
		"empty list": {"profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]}]", with(func(p *scheduler.Profile) { p.SystemDefaultSpread = false })},
		"affinity": {"profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true}}]}]",
			with(func(p *scheduler.Profile) { p.HardPodAffinityWeight = 0; p.IgnorePreferredTerms = true })},
		"load packing": {"profiles: [{plugins: {score: {disabled: [{name: NodeResourcesFit}], enabled: [{name: TargetLoadPacking, weight: 2}]}}, pluginConfig: [{name: TargetLoadPacking, args: {targetUtilization: 70, defaultRequestsMultiplier: \"2\", defaultRequests: {cpu: 2000m}, watcherAddress: http://w:2020}}]}]",
			with(func(p *scheduler.Profile) {
				p.Weights.ResourcesFit = 0
				p.Packing = &scheduler.TargetLoadPacking{Weight: 2, Target: 70, DefaultMilliCPU: 2000, Factor: 2}
			})},
		"risk balancing": {"profiles: [{plugins: {score: {enabled: [{name: LoadVariationRiskBalancing, weight: 3}]}}, pluginConfig: [{name: LoadVariationRiskBalancing, args: {safeVarianceMargin: 2, safeVarianceSensitivity: 0.5, metricProvider: {type: Prometheus}}}]}]",
			with(func(p *scheduler.Profile) {
				p.RiskBalancing = &scheduler.LoadVariationRiskBalancing{Weight: 3, Margin: 2, Sensitivity: 0.5}
			})},
		"low risk": {"profiles: [{plugins: {score: {enabled: [{name: LowRiskOverCommitment}]}}, pluginConfig: [{name: LowRiskOverCommitment, args: {smoothingWindowSize: 1, riskLimitWeights: {cpu: 0, memory: 1}}}]}]",
			with(func(p *scheduler.Profile) {
				p.LowRisk = &scheduler.LowRiskOverCommitment{Weight: 1, SmoothingWindows: 1, MemoryLimitWeight: 1}
			})},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(schedulerconfig.Load("s", []byte(header+c.text)))(t)
			if d := cmp.Diff(map[string]scheduler.Profile{"default-scheduler": c.want}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSeveralProfiles checks that each schedulerName gets its own profile.
func TestSeveralProfiles(t *testing.T) {
	got, err := schedulerconfig.Load("s", []byte(header+"profiles:\n- schedulerName: a\n- {schedulerName: b, plugins: {score: {enabled: [{name: Peaks}]}}}\n"))
	if err != nil || len(got) != 2 || got["a"].UnsupportedReason != "" || got["b"].UnsupportedReason != "its plugin Peaks is not supported" {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(header + "profiles: [{plugins: {score: {enabled: [{name: PodTopologySpread, weight: 5}]}}, " +
		"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = schedulerconfig.Load("f", b)
	})
}
