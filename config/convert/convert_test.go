package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// TestToConfig converts files, and compares each result or error with the golden file. Each result must be a valid
// configuration.
func TestToConfig(t *testing.T) {
	golden.Pairs(t, "testdata/rules_to_config.txtar", func(t *testing.T, given []byte) string {
		o := convert.Options{PrometheusURL: "http://prometheus:9090", NodeLabel: config.Default().Load.Prometheus.NodeLabel}
		got, err := convert.ToConfig("dir/rule.yaml", given, o)
		if err != nil {
			return err.Error() + "\n"
		}
		if _, err := config.Load("converted", []byte(got)); err != nil {
			t.Errorf("the converted configuration is not valid: %v\n%s", err, got)
		}
		return got
	})
}

// TestPolicyMistakes reads a Policy with each mistake, and compares the complete error.
func TestPolicyMistakes(t *testing.T) {
	golden.Pairs(t, "testdata/policy.txtar", func(t *testing.T, given []byte) string {
		_, err := convert.LoadLegacyPolicy("policy.json", given)
		return golden.ErrorText(t, err)
	})
}

// TestPolicyProfile checks the scores and filters that a legacy Policy is converted to.
func TestPolicyProfile(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want func(*scheduler.Profile)
	}{
		"defaults": {"", func(*scheduler.Profile) {}},
		"priorities": {"priorities: [{name: LeastRequestedPriority, weight: 2}, {name: zone, weight: 3, argument: {serviceAntiAffinity: {label: zone}}}, {name: hdd, weight: 1, argument: {labelPreference: {label: hdd, presence: false}}}]\nhardPodAffinitySymmetricWeight: 10\n",
			func(p *scheduler.Profile) {
				p.HardPodAffinityWeight = 10
				p.Legacy = &scheduler.LegacyPolicy{HardPodAffinityWeight: 10, Priorities: []scheduler.PriorityFunction{{Name: "LeastRequestedPriority", Weight: 2},
					{Name: "zone", Weight: 3, AntiAffinityLabel: "zone"}, {Name: "hdd", Weight: 1, PreferLabel: "hdd", PreferAbsent: true}}}
			}},
		"predicates": {"predicates: [{name: GeneralPredicates}, {name: CheckVolumeBinding}, {name: NoDiskConflict}, {name: MaxCSIVolumeCountPred}, {name: NoVolumeZoneConflict}, {name: on, argument: {labelsPresence: {labels: [ok], presence: true}}}]",
			func(p *scheduler.Profile) {
				p.DisabledFilters = []scheduler.Filter{"PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"}
				p.AddedAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "ok", Operator: corev1.NodeSelectorOpExists}}}}}}
			}},
		"extenders": {"extenders: [{urlPrefix: http://x}]", func(p *scheduler.Profile) {
			p.UnsupportedReason = "extender http://x influences placement, which is not supported"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(convert.LoadLegacyPolicy("p", []byte("kind: Policy\napiVersion: v1\n"+c.text)))(t)
			want := scheduler.LegacyProfile(scheduler.DefaultLegacyPolicy())
			c.want(&want)
			if d := cmp.Diff(want, got.Profile()); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzLoadPolicy(f *testing.F) {
	f.Add([]byte("kind: Policy\napiVersion: v1\npriorities: [{name: LeastRequestedPriority, weight: 2}]"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if p, err := convert.LoadLegacyPolicy("f", b); err == nil {
			p.Profile()
		}
	})
}
