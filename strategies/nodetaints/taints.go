package nodetaints

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// counts reports whether the lists let the taint count. If no list names it, a mark of a node does not count: the state
// may pass, or the program that sets the mark evicts the pods that must leave, at its own pace. The kind are all taints
// of nodemarks.Defaults and of the configuration, such as those of nodes that start, of machine rollouts and of drains.
func (t *configuredStrategy) counts(taint *corev1.Taint) bool {
	if len(t.args.Include) > 0 {
		return isListed(taint, t.args.Include)
	}
	return t.scope.Marks.OfTaint(taint) == nil && !isListed(taint, t.args.Exclude)
}

// isListed reports whether the list contains the key of the taint, or its key and value.
func isListed(taint *corev1.Taint, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		key, value, hasValue := strings.Cut(entry, "=")
		return key == taint.Key && (!hasValue || value == taint.Value)
	})
}

const wantTaint = "want key or key=value, such as dedicated=database"

// check checks the lists.
func (a Args) check(hints cluster.HintMarks) (errs []arg.Error) {
	if len(a.Include) > 0 && len(a.Exclude) > 0 {
		errs = append(errs, arg.Error{Message: "want either include or exclude, not both"})
	}
	return slices.Concat(errs, checkTaints("include", a.Include, hints), checkTaints("exclude", a.Exclude, hints))
}

func checkTaints(field string, list []string, hints cluster.HintMarks) (errs []arg.Error) {
	for i, entry := range list {
		fail := func(format string, args ...any) {
			errs = append(errs, arg.Error{Path: fmt.Sprintf("%s[%d]", field, i), Message: fmt.Sprintf(format, args...)})
		}
		key, value, _ := strings.Cut(entry, "=")
		text, effect, hasEffect := strings.Cut(entry, ":")
		switch {
		case hasEffect && slices.Contains(effects, effect):
			fail("%q names an effect, but a taint counts with NoSchedule, and with PreferNoSchedule if preferNoSchedule is true "+
				"(want %q)", entry, text)
		case len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0:
			fail("%q is not a taint (%s)", entry, wantTaint)
		case slices.Contains(list[:i], entry):
			fail("%q occurs twice", entry)
		case slices.Contains(hints.Taints, key):
			fail("%s is a hint of Evenkeel, which keeps new pods away and never evicts any (remove it)", key)
		}
	}
	return errs
}

var effects = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
