// Package impact says what the failure of a zone does to each workload: how many replicas are lost, how busy the others
// become, and which failure category that is. It says what evictions can repair, and what needs replicas.
//
// It decides how a plan and a snapshot are judged, and which change to advise. It never predicts a landing and never
// plans: packages placement and planner do. It never evicts, calls an API server or reads a clock.
package impact

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Input is what an impact depends on. Plan is the plan of a pass on the snapshot, with all rejections.
type Input struct {
	Snapshot *cluster.Snapshot
	State    plan.PlannerState
	Options  *search.Options
	Plan     plan.Plan
	Now      time.Time
}

// Measure returns the effect of zone failures on every workload of the plan. One whose pods are all Pending is lost
// already.
func Measure(in Input) plan.Impact {
	p := &in.Plan
	out := plan.Impact{
		APIVersion: plan.APIVersion, Kind: "Impact", TakenAt: p.TakenAt, Cluster: p.Cluster, ConfigHash: p.ConfigHash,
		UtilizationLimit: in.Options.Guards.Scope.UtilizationLimit, Zones: zonesOf(p), Workloads: []plan.WorkloadImpact{},
	}
	m := newMeasure(&in, out.Zones)
	before := map[workloadKey]*plan.WorkloadState{}
	for i := range p.Before.Workloads {
		w := &p.Before.Workloads[i]
		before[workloadKey{w.Namespace, w.Kind, w.Name}] = w
	}
	for i := range in.Snapshot.Workloads {
		w := &in.Snapshot.Workloads[i]
		st := before[workloadKey{w.Namespace, w.Kind, w.Name}]
		_, waiting := m.podsOf(w)
		switch {
		case st != nil:
			out.Workloads = append(out.Workloads, m.workload(w, st))
		case len(waiting) > 0 && !w.BelongsToNodes(in.Snapshot):
			out.Workloads = append(out.Workloads, m.workload(w, &plan.WorkloadState{FailureCategory: 1, CategoryCertain: true}))
		}
	}
	slices.SortStableFunc(out.Workloads, func(a, b plan.WorkloadImpact) int { return cmp.Compare(a.Category.Category, b.Category.Category) })
	for i := range out.Workloads {
		if of := out.Workloads[i].Category; of.MayBeMinor() {
			out.ThreeOrFour++
		} else {
			out.ByCategory[of.Category-1]++
		}
	}
	return out
}

// zonesOf returns the zones of the nodes, sorted.
func zonesOf(p *plan.Plan) []string {
	zones := []string{}
	for i := range p.Before.Nodes {
		if z := p.Before.Nodes[i].Zone; z != "" {
			zones = append(zones, z)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

type workloadKey struct{ namespace, kind, name string }

// measure is a measurement in progress.
type measure struct {
	*Input
	zones       []string
	zoneOf      []string // by node
	workloads   map[workloadKey]*cluster.Workload
	after       map[workloadKey]*plan.WorkloadState
	utilization plan.WorkloadUtilization
	model       *placement.ClusterModel
	eligible    *eligibility.Checker
	reach       map[int]zoneSet // by equivalence class
}

func newMeasure(in *Input, zones []string) *measure {
	m := &measure{Input: in, zones: zones, zoneOf: limits.ZonesOf(in.Snapshot), workloads: map[workloadKey]*cluster.Workload{},
		after: map[workloadKey]*plan.WorkloadState{}, reach: map[int]zoneSet{},
		utilization: plan.NewWorkloadUtilization(in.Snapshot, in.Options.Guards.Scope),
		model:       placement.NewClusterModel(in.Snapshot, in.Options.Placement)}
	m.eligible = eligibility.NewChecker(in.Snapshot, m.model, in.State, &in.Options.Options, in.Now)
	for i := range in.Snapshot.Workloads {
		w := &in.Snapshot.Workloads[i]
		m.workloads[workloadKey{w.Namespace, w.Kind, w.Name}] = w
	}
	last := &in.Plan.After
	for i := range in.Plan.Proposals {
		if of := &in.Plan.Proposals[i]; of.Mode == plan.Approve {
			last = &of.Plan.After
		}
	}
	for i := range last.Workloads {
		w := &last.Workloads[i]
		m.after[workloadKey{w.Namespace, w.Kind, w.Name}] = w
	}
	return m
}

// workload measures one workload.
func (m *measure) workload(w *cluster.Workload, st *plan.WorkloadState) plan.WorkloadImpact {
	pods, waiting := m.podsOf(w)
	out := plan.WorkloadImpact{Namespace: w.Namespace, Kind: w.Kind, Name: w.Name, Replicas: len(pods), Pending: len(waiting),
		Zones: []plan.ZoneImpact{}, WithoutZone: st.Zones[""],
		Category: plan.FailureEffect{Category: st.FailureCategory, Certain: st.CategoryCertain}}
	u, known := m.utilization.Utilization(pods)
	if known {
		out.Utilization = rounded(u)
	}
	for _, z := range m.zones {
		out.Zones = append(out.Zones, m.zone(z, st.Zones[z], len(pods), u, known))
	}
	out.ZoneSLO = m.zoneSLO(slices.Concat(pods, waiting))
	out.SLO = sloState(out.ZoneSLO, out.Category)
	out.AfterPlan = out.Category
	if after := m.after[workloadKey{w.Namespace, w.Kind, w.Name}]; after != nil {
		out.AfterPlan = plan.FailureEffect{Category: after.FailureCategory, Certain: after.CategoryCertain}
	}
	m.addRemedy(&out, pods, u, known)
	return out
}

// podsOf returns the pods of the workload that the failure of a zone can take, and those that wait for a node.
func (m *measure) podsOf(w *cluster.Workload) (bound, waiting []cluster.PodID) {
	for _, id := range w.Pods {
		switch p := &m.Snapshot.Pods[id]; {
		case p.Terminating:
		case p.Node != cluster.NoNode:
			bound = append(bound, id)
		case waitsForNode(p):
			waiting = append(waiting, id)
		}
	}
	return bound, waiting
}

func (m *measure) zone(zone string, lost, total int, u float64, known bool) plan.ZoneImpact {
	out := plan.ZoneImpact{Zone: zone, Replicas: lost, Lost: plan.Round(float64(lost) / float64(max(1, total))), FailureEffect: m.effect(total, lost, u, known)}
	if known && lost < total {
		out.Utilization = rounded(u * float64(total) / float64(total-lost))
	}
	return out
}

// effect returns the failure category if `lost` of `total` pods are lost. u is their utilization, if it is known.
func (m *measure) effect(total, lost int, u float64, known bool) plan.FailureEffect {
	if known {
		return plan.FailureEffect{Category: plan.FailureCategoryAtUtilization(total, lost, u, m.Options.Guards.Scope.UtilizationLimit), Certain: true}
	}
	category, certain := plan.FailureCategory(total, lost)
	return plan.FailureEffect{Category: category, Certain: certain}
}

// zoneSLO returns the strictest zone-slo of the pods. Their controllers may have different ones.
func (m *measure) zoneSLO(pods []cluster.PodID) (slo int) {
	seen := map[string]bool{}
	for _, id := range pods {
		p := &m.Snapshot.Pods[id]
		if c := p.Controller; c != nil && !seen[c.Kind+c.Name] {
			seen[c.Kind+c.Name] = true
			slo = max(slo, annotation.OfWorkload(m.Snapshot, p).ZoneSLO)
		}
	}
	return slo
}

func sloState(slo int, now plan.FailureEffect) plan.SLOState {
	switch {
	case slo == 0:
		return ""
	case now.Category >= slo:
		return plan.SLOMet
	case now.MayBeMinor():
		return plan.SLOUnknown
	}
	return plan.SLOMissed
}

func rounded(v float64) *float64 {
	v = plan.Round(v)
	return &v
}
