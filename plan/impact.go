package plan

import "time"

// Impact says what the failure of a zone does to each workload, and what would help.
type Impact struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"` // "Impact"
	TakenAt    time.Time   `json:"takenAt"`
	Cluster    ClusterInfo `json:"cluster"`
	ConfigHash string      `json:"configHash"`
	// UtilizationLimit is the highest acceptable utilization of the pods that remain, from 0 to 1.
	UtilizationLimit float64 `json:"utilizationLimit"`
	// Zones are the zones of the cluster, sorted.
	Zones []string `json:"zones"`
	// Workloads are sorted by failure category, namespace, kind and name.
	Workloads []WorkloadImpact `json:"workloads"`
	// ByCategory counts the workloads by failure category: ByCategory[0] those in category 1. It does not count
	// ThreeOrFour, those in category 3 or 4 of unknown usage.
	ByCategory  [4]int `json:"byCategory"`
	ThreeOrFour int    `json:"threeOrFour"`
	// WhatIf is the imagined change of the nodes after which the workloads are judged; nil without one.
	WhatIf *WhatIf `json:"whatIf,omitempty"`
	// Advice says what capacity would help.
	Advice Advice `json:"advice"`
}

// WorkloadImpact is the effect of zone failures on one workload.
type WorkloadImpact struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	// Replicas counts the pods that run on nodes and do not terminate. Pending counts those that wait for a node. A
	// workload without replicas that run is in category 1.
	Replicas int          `json:"replicas"`
	Pending  int          `json:"pending,omitempty"`
	Zones    []ZoneImpact `json:"zones"` // one for each zone of Impact.Zones
	// WithoutZone counts the replicas on nodes without a zone. With such replicas, no category is certain.
	WithoutZone int `json:"withoutZone,omitempty"`
	// Utilization is the measured CPU usage of the pods as a share of their capacity. It is nil if it is unknown.
	Utilization *float64 `json:"utilization,omitempty"`
	// Category is the failure category of the worst zone.
	Category FailureEffect `json:"category"`
	// ZoneSLO is the worst category that the annotation zone-slo allows; 0 without the annotation. SLO says whether the
	// workload meets it.
	ZoneSLO int      `json:"zoneSLO,omitempty"`
	SLO     SLOState `json:"slo,omitempty"`
	// AfterPlan is the category after the moves of this plan and those that wait for approval. BestSpread is that
	// of the most even spread that evictions could reach.
	AfterPlan  FailureEffect `json:"afterPlan"`
	BestSpread FailureEffect `json:"bestSpread"`
	// BestInFullest is the number of pods in the fullest zone of that spread.
	BestInFullest int    `json:"bestInFullestZone"`
	Remedy        Remedy `json:"remedy"`
}

// FailureEffect is a failure category. If it is not certain, category 3 may be 4.
type FailureEffect struct {
	Category int  `json:"category"`
	Certain  bool `json:"certain"`
}

// MayBeMinor reports whether the effect is category 3 or 4, and unknown usage decides which.
func (e FailureEffect) MayBeMinor() bool { return e.Category == 3 && !e.Certain }

// ZoneImpact is the effect of the failure of one zone on a workload.
type ZoneImpact struct {
	Zone     string `json:"zone"`
	Replicas int    `json:"replicas"`
	// Lost is the share of the replicas that the failure takes.
	Lost float64 `json:"lost"`
	// Utilization is that of the remaining replicas, which take over the work. It is nil if it is unknown or if none
	// remains.
	Utilization *float64 `json:"utilization,omitempty"`
	FailureEffect
}

// SLOState says whether a workload meets its zone-slo.
type SLOState string

const (
	SLOMet     SLOState = "met"
	SLOMissed  SLOState = "missed"
	SLOUnknown SLOState = "unknown" // it depends on usage that is unknown
)

// Remedy is what brings a workload to the category that it should have.
type Remedy struct {
	Kind RemedyKind `json:"kind"`
	// Category is what the remedy brings.
	Category int `json:"category,omitempty"`
	// Replicas and Zones are set for RemedyReplicas: the number of replicas in all, and the zones that they can use.
	Replicas int `json:"replicas,omitempty"`
	Zones    int `json:"zones,omitempty"`
	// Checked says that a plan with so many replicas brings the category, and that one with fewer does not.
	Checked bool `json:"checked,omitempty"`
	// Reason says why the plan does not bring the category, if evictions could.
	Reason *Reason `json:"reason,omitempty"`
}

// RemedyKind says what kind of change helps a workload.
type RemedyKind string

const (
	RemedyNone     RemedyKind = "none"     // nothing is needed
	RemedyPlan     RemedyKind = "plan"     // the moves of this plan are enough
	RemedyEviction RemedyKind = "eviction" // evictions could do it, but this plan does not
	RemedyReplicas RemedyKind = "replicas" // no placement of the present replicas is enough
	RemedyZones    RemedyKind = "zones"    // the pods can run in one zone only, or in none
	RemedyRoom     RemedyKind = "room"     // Pending pods need a node
	RemedyUsage    RemedyKind = "usage"    // measured usage is needed to tell
)
