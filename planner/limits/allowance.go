package limits

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/plan"
	"math"
	"strconv"
)

// Allowance is one limit as it stands for a pod. What is past counts against
// those that outlast a pass.
type Allowance struct {
	Code               plan.Code
	limit              plan.CountLimit
	podCount, Planned  int
	configKey, subject string
	lastHour           int
	workloadKind       string // of what is named in at
}

// Name names the limit, and what it is counted over.
func (a Allowance) Name() string {
	switch a.Code {
	case plan.LimitPerNode:
		return a.configKey + " on " + a.subject
	case plan.LimitPerNamespace:
		return a.configKey + " in " + a.subject
	case plan.LimitPerHour:
		switch {
		case a.workloadKind != "":
			return a.configKey + " for " + a.workloadKind + " " + a.subject
		case a.subject != "":
			return a.configKey + " in " + a.subject
		}
	case plan.LimitPerZone:
		return a.configKey + " " + inZone(a.subject)
	}
	return a.configKey
}

// most is how many evictions the limit allows in this pass, and left how many
// more.
func (a Allowance) most() int { return a.limit.For(a.podCount) - a.lastHour }

func (a Allowance) Left() int { return a.most() - a.Planned }

// Allows says how many evictions that is, and of what a share is taken.
func (a Allowance) Allows() string {
	n := a.limit.For(a.podCount)
	switch {
	case n == math.MaxInt:
		return "unlimited"
	case a.limit.String() == strconv.Itoa(n):
		return countEvictions(n)
	}
	return fmt.Sprintf("%s of %s, which is %s", a.limit, CountPods(a.podCount), countEvictions(n))
}

// LastHour says what is past of a limit that outlasts a pass.
func (a Allowance) LastHour() string {
	if a.Code != plan.LimitPerHour {
		return ""
	}
	return fmt.Sprintf("; %d within the last hour", a.lastHour)
}

func (a Allowance) reason() plan.Reason {
	return plan.Reason{Code: a.Code, Message: fmt.Sprintf("%s allows %s%s; %d planned already", a.Name(), a.Allows(), a.LastHour(), a.Planned)}
}

func countEvictions(n int) string {
	if n == 1 {
		return "1 eviction"
	}
	return strconv.Itoa(n) + " evictions"
}

func CountPods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return strconv.Itoa(n) + " pods"
}

func inZone(zone string) string {
	if zone == "" {
		return "outside of zones"
	}
	return "in " + zone
}

func strictest(list []Allowance) (plan.Reason, bool) {
	var least *Allowance
	for i := range list {
		if a := &list[i]; a.Left() < 1 && (least == nil || a.most() < least.most()) {
			least = a
		}
	}
	if least == nil {
		return plan.Reason{}, false
	}
	return least.reason(), true
}
