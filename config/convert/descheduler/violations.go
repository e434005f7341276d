package descheduler

import (
	"fmt"
	"slices"
)

const (
	requiredAffinity  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredAffinity = "preferredDuringSchedulingIgnoredDuringExecution"
	doNotSchedule     = "DoNotSchedule"
	scheduleAnyway    = "ScheduleAnyway"
)

func (a *antiAffinityArgs) convert(s *strategy) { s.scope(a.Namespaces, a.LabelSelector) }

func (a *nodeAffinityArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	if len(a.NodeAffinityType) == 0 {
		s.fail("nodeAffinityType", "is missing, which the descheduler rejects (want [%s])", requiredAffinity)
	}
	for i, t := range a.NodeAffinityType {
		if t != requiredAffinity && t != preferredAffinity {
			s.fail(fmt.Sprintf("nodeAffinityType[%d]", i), "%q is unknown (want %s or %s)", t, requiredAffinity, preferredAffinity)
		}
	}
	s.arg("required", fmt.Sprint(slices.Contains(a.NodeAffinityType, requiredAffinity)))
	s.arg("preferred", fmt.Sprint(slices.Contains(a.NodeAffinityType, preferredAffinity)))
}

func (a *nodeTaintsArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	if len(a.ExcludedTaints) > 0 && len(a.IncludedTaints) > 0 {
		s.fail("excludedTaints", "includedTaints is set, too, which the descheduler rejects (want one of them)")
	}
	s.argIf(a.IncludePreferNoSchedule, "preferNoSchedule", "true")
	s.argIf(len(a.IncludedTaints) > 0, "include", flowList(unique(a.IncludedTaints)))
	s.argIf(len(a.ExcludedTaints) > 0, "exclude", flowList(unique(a.ExcludedTaints)))
	if len(a.IncludedTaints) == 0 {
		s.note("", "taints of cordons and of node conditions (node.kubernetes.io/...) do not count, unless include names them; "+
			"for the descheduler they do")
	}
}

func (a *duplicatesArgs) convert(s *strategy) {
	s.scope(a.Namespaces, nil)
	s.excludeOwnerKinds(a.ExcludeOwnerKinds)
}

func (a *topologySpreadArgs) convert(s *strategy) {
	s.scope(a.Namespaces, a.LabelSelector)
	constraints := a.Constraints
	if len(constraints) == 0 {
		constraints = []string{doNotSchedule}
		if a.IncludeSoftConstraints != nil && *a.IncludeSoftConstraints {
			constraints = append(constraints, scheduleAnyway)
		}
	} else if a.IncludeSoftConstraints != nil {
		s.note("includeSoftConstraints", "no effect, because constraints is set")
	}
	for i, x := range constraints {
		if x != doNotSchedule && x != scheduleAnyway {
			s.fail(fmt.Sprintf("constraints[%d]", i), "%q is unknown (want %s or %s)", x, doNotSchedule, scheduleAnyway)
		}
	}
	s.arg("whenUnsatisfiable", flowList(unique(constraints)))
	if a.TopologyBalanceNodeFit != nil {
		s.note("topologyBalanceNodeFit", "no counterpart: a pod moves only if its replacement is predicted to land where the skew shrinks")
	}
}
