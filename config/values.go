package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// checkSelector adds an error if text is not a label selector.
func checkSelector(d *strict.Decoder, path, text string) {
	if _, err := labels.Parse(text); err != nil {
		d.Errorf(path, "%q is not a label selector: %v", text, err)
	}
}

// checkEach adds an error for each element of a list in which validate finds problems. message has %q for the element.
func checkEach(d *strict.Decoder, path string, list []string, validate func(string) []string, message string) {
	for i, text := range list {
		if len(validate(text)) > 0 {
			d.Errorf(fmt.Sprintf("%s[%d]", path, i), message, text)
		}
	}
}

// checkFraction adds an error if v is not above 0 and at most 1.
func checkFraction(d *strict.Decoder, path string, v float64) {
	for _, err := range arg.Fraction(path, v) {
		d.Errorf(path, "%s", err.Message)
	}
}

// toStrings converts names to plain strings.
func toStrings[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

// decodeOptions make the strict decoder accept the types Duration, plan.CountLimit, Presets and Strategies.
var decodeOptions = strict.Options{Types: map[reflect.Type]func(*strict.Decoder, *yaml.Node, reflect.Value, string){
	reflect.TypeFor[Duration]():        decodeDuration,
	reflect.TypeFor[plan.CountLimit](): decodeCount,
	reflect.TypeFor[Presets]():         decodePresets,
	reflect.TypeFor[Strategies]():      decodeStrategies,
}, Remedy: remedy}

func decodeDuration(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
	hint := arg.DurationHint(n.Value)
	if strings.HasPrefix(path, "windows.") {
		hint = windowDurationHint(n.Value)
	}
	arg.DecodeDuration(d, n, v, path, hint)
}

// windowDurationHint suggests a valid duration of a window instead of text. It adds a unit to a plain number, and
// converts days to hours. It suggests hours up to a day, and otherwise minutes.
func windowDurationHint(text string) string {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	switch days := strings.HasSuffix(text, "d"); {
	case err == nil && days && n > 0 && n <= 7:
		return fmt.Sprintf("did you mean %dh?", 24*n)
	case err == nil && !days && n > 24: // more than a day: rather minutes
		return fmt.Sprintf("did you mean %dm?", n)
	case err == nil && !days:
		return fmt.Sprintf("did you mean %dh?", n)
	}
	return "want a number and a unit, such as 6h"
}

func decodeCount(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
	want := "a number, a share such as 20%%, or unlimited"
	whole := strings.HasPrefix(path, "evictor.") // these limits count pods; a share of the pods is meaningless
	if whole {
		want = "a whole number, or unlimited"
	}
	c, err := plan.ParseCountLimit(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil && whole && !strings.HasPrefix(n.Value, "-"):
		d.TypeErrorf(n, path, "want "+want+"; found %s", strict.Describe(n))
	case err != nil:
		d.TypeErrorf(n, path, "%v", err)
	default:
		v.Set(reflect.ValueOf(c))
	}
}

// Duration is a duration in the format 90s, 5m or 1h30m.
type Duration = arg.Duration
