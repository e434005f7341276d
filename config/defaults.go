package config

import (
	"time"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// Version and Kind are the required apiVersion and kind of config.yaml.
const (
	Version = plan.APIVersion
	Kind    = "RebalanceConfig"
)

// Default returns the default configuration, which has no strategies.
func Default() *Config {
	minute := Duration(time.Minute)
	return &Config{
		APIVersion: Version, Kind: Kind, DryRun: true, TimeZone: "Etc/UTC",
		Namespaces: Namespaces{Include: []string{}, Exclude: []string{"kube-system"}}, TrustedNamespaces: []string{},
		Load:       defaultLoad(),
		Hints:      defaultHints(),
		Preset:     Presets{},
		Strategies: Strategies{},
		Impact:     Impact{UtilizationLimit: 0.9},
		Guards: Guards{
			MinConfidence: 0.9, MinReplicas: 2, MinPodAge: 5 * minute, MaxGracePeriod: 10 * minute,
			PriorityBelow: "system-cluster-critical", MaxUnavailableWithoutPDB: 1, Protect: toStrings(guard.DefaultProtections()),
			SafeLocalVolumes: []string{}, ProtectedStorageClasses: []string{}, Controllers: []string{}, Groups: []string{}, GroupKeys: []string{}, BlockingPods: []PodSelector{},
			NoEvictionPolicy: string(guard.Preferred),
		},
		Limits: Limits{PerPass: plan.Absolute(50), PerNode: plan.Absolute(5), PerNamespace: plan.Percent(20),
			PerOwner: plan.Percent(50), PerZone: plan.Absolute(20),
			PerHour:        PerHour{Owner: plan.Absolute(10), Namespace: plan.Absolute(100), Cluster: plan.Absolute(300)},
			MaxPredictions: plan.Absolute(500_000), MaxPlanTime: 2 * minute},
		Approvals: Approvals{Enabled: true, ValidFor: Duration(24 * time.Hour)},
		History:   History{Keep: Duration(30 * 24 * time.Hour)},
		Windows:   Windows{Allow: []AllowWindow{}, Deny: []Window{}},
		Placement: Placement{Profiles: []schedulerconfig.SchedulerProfile{}, Trust: 0.9,
			NodeMarks: NodeMarks{Starting: []string{}, Outgoing: []string{}, Draining: []string{}, Unhealthy: []string{}}},
		Evictor: Evictor{PerMinute: plan.Absolute(30),
			InFlight:      InFlight{Total: plan.Absolute(16), PerNode: plan.Absolute(2), PerOwner: plan.Absolute(1)},
			VerifyTimeout: 5 * minute, Steer: string(hints.None),
			BackgroundTimeout: 60 * minute, Backoff: 10 * minute,
			Breaker: Breaker{MaxUnreadyNodesFrac: 0.3, MaxPendingPods: plan.Absolute(10), MaxFailedFrac: 0.2,
				Hold: 10 * minute, PrometheusAlerts: []string{}},
		},
	}
}

func defaultLoad() LoadSource {
	minute := Duration(time.Minute)
	return LoadSource{
		Source: SourceRequests, Timeout: minute / 6, Interval: minute / 2, Statistic: "p90", Window: 5 * minute, MaxAge: 3 * minute, MinCoverage: 0.9,
		Prometheus: Prometheus{Preset: "nodeExporter", RateWindow: 2 * minute, Queries: map[string]string{}, PodQueries: map[string]string{},
			Freshness: map[string]string{}, NodeLabel: "instance", OAuth2: OAuth2{Scopes: []string{}}, Headers: map[string]string{}},
	}
}

func defaultHints() Hints {
	return Hints{Label: pressure.Key + "=true", Former: []string{}, MaxHintedFrac: 0.34, TTL: Duration(10 * time.Minute), Rules: []HintRule{}}
}
