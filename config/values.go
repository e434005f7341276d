package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

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

// decodeOptions make the strict decoder accept the types Duration and plan.CountLimit.
var decodeOptions = strict.Options{Types: map[reflect.Type]func(*strict.Decoder, *yaml.Node, reflect.Value, string){
	reflect.TypeFor[Duration]():        decodeDuration,
	reflect.TypeFor[plan.CountLimit](): decodeCount,
}}

func decodeDuration(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
	length, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		d.TypeErrorf(n, path, "%s is not a duration (%s)", strict.Describe(n), durationHint(n.Value, strings.HasPrefix(path, "windows.")))
	case length < 0:
		d.TypeErrorf(n, path, "%s is negative (want 0s or more)", n.Value)
	default:
		v.SetInt(int64(length))
	}
}

// durationHint suggests a valid duration instead of text. It adds a unit to a plain number, and converts days to
// hours. For windows it suggests hours up to a day, and otherwise minutes. Elsewhere it names seconds and minutes:
// Kubernetes counts some of these times in seconds and others in minutes, so it must not guess.
func durationHint(text string, window bool) string {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	switch days := strings.HasSuffix(text, "d"); {
	case err == nil && days && n > 0 && (n <= 7 || !window && n <= 9999):
		return fmt.Sprintf("did you mean %dh?", 24*n)
	case err == nil && !days && window && n > 24: // more than a day: rather minutes
		return fmt.Sprintf("did you mean %dm?", n)
	case err == nil && !days && window:
		return fmt.Sprintf("did you mean %dh?", n)
	case err == nil && !days:
		return fmt.Sprintf("did you mean %ds or %dm?", n, n)
	case window:
		return "want a number and a unit, such as 6h"
	}
	return "want a number and a unit, such as 90s, 5m or 1h30m"
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
type Duration time.Duration

// String omits trailing zero units: 5m instead of 5m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, cut := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, cut) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }
