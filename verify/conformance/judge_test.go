package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// outcome is the result of the comparison of one case.
type outcome string

const (
	// equal: the same evictions. If the choice is free, their number counts.
	equal outcome = "equal"
	// fewer: a balancing strategy reaches its goals with fewer evictions.
	fewer outcome = "fewer"
	// documented: a trait explains each difference.
	documented outcome = "documented"
	// wrong: some difference has no trait.
	wrong outcome = "wrong"
)

// verdict is the outcome with its reasons.
type verdict struct {
	outcome outcome
	// traits are the names of the traits that explain the difference, sorted.
	traits []string
	// problems describe what no trait explains.
	problems []string
}

// balances reports whether the plugin chooses freely among pods, so that only numbers of evictions
// can be compared.
func balances(plugin string) bool {
	return balancePlugins[plugin] || plugin == "RemovePodsViolatingInterPodAntiAffinity"
}

// judge compares what both did in a case.
func judge(c *recordedCase, r *run) verdict {
	want, got := c.evicted(), r.movedAsked(c)
	missing, extra := difference(want, got), difference(got, want)
	needMissing, needExtra := len(missing), len(extra)
	if !c.isGuardCase() && (c.Expect.ChoiceVaries || balances(c.Plugin.Name)) {
		needMissing, needExtra = max(0, len(want)-len(got)), max(0, len(got)-len(want))
	}
	if needMissing == 0 && balances(c.Plugin.Name) && r.unmet > 0 {
		// With other pods of the same number, the same goal must be met, or a limit must be reached.
		missing = slices.DeleteFunc(missing, func(pod string) bool { return r.staysFor(pod, limitCodes...) })
		needMissing = len(missing)
	}
	switch {
	case needMissing == 0 && r.policyError != "" && !c.rejectsPolicy():
		return verdict{outcome: wrong, problems: []string{"the policy is valid, but it is not converted: " + r.policyError}}
	case needMissing == 0 && needExtra == 0:
		return verdict{outcome: equal}
	case needExtra == 0 && len(got) > 0 && r.unmet == 0 && balances(c.Plugin.Name):
		return verdict{outcome: fewer}
	}
	v := verdict{outcome: documented}
	v.explain(missing, needMissing, "the descheduler evicts", func(t trait, pod string) bool { return t.keeps != nil && t.keeps(c, r, pod) })
	v.explain(extra, needExtra, "Evenkeel evicts", func(t trait, pod string) bool { return t.moves != nil && t.moves(c, r, pod) })
	if len(v.problems) > 0 {
		for _, pod := range missing {
			v.problems = append(v.problems, fmt.Sprintf("%s stays: %v", pod, r.rejected[pod]))
		}
		if r.policyError != "" {
			v.problems = append(v.problems, r.policyError)
		}
		v.outcome, v.traits = wrong, nil
	}
	return v
}

// rejectsPolicy reports whether the descheduler fails with the policy of the case, too: it returned an error, or the
// name of the case says that an argument is invalid.
func (c *recordedCase) rejectsPolicy() bool {
	return c.Expect.Error != "" || strings.Contains(strings.ToLower(c.Name), "invalid")
}

// explain adds the traits that hold for the pods. It adds a problem if they explain fewer pods than
// needed.
func (v *verdict) explain(pods []string, needed int, what string, holds func(t trait, pod string) bool) {
	if needed == 0 {
		return
	}
	explained := 0
	var unexplained []string
	for _, pod := range pods {
		i := slices.IndexFunc(traits, func(t trait) bool { return holds(t, pod) })
		if i < 0 {
			unexplained = append(unexplained, pod)
			continue
		}
		explained++
		if !slices.Contains(v.traits, traits[i].name) {
			v.traits = append(v.traits, traits[i].name)
		}
	}
	slices.Sort(v.traits)
	if explained < needed {
		v.problems = append(v.problems, fmt.Sprintf("no trait explains why only %s %d of %v", what, needed-explained, unexplained))
	}
}

// movedAsked returns the pods that the plans move. A guard case asks only about some of them.
func (r *run) movedAsked(c *recordedCase) []string {
	if !c.isGuardCase() {
		return r.moved
	}
	return slices.DeleteFunc(slices.Clone(r.moved), func(pod string) bool { _, asked := c.Expect.Evictable[pod]; return !asked })
}

// difference returns the elements of a that b does not have.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// limitCodes are the reasons of limits that the policy of a case may set.
var limitCodes = []plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace}
