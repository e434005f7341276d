package arg

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

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

// MarshalJSON writes the duration as String does.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// DecodeDuration decodes a Duration into v. It rejects negative durations. hint is a remedy for a text that is not a
// duration.
func DecodeDuration(d *strict.Decoder, n *yaml.Node, v reflect.Value, path, hint string) {
	length, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode:
		d.TypeErrorf(n, path, "want a duration, found %s (%s)", strict.Describe(n), hint)
	case err != nil:
		d.TypeErrorf(n, path, "%s is not a duration (%s)", strict.Describe(n), hint)
	case length < 0:
		d.TypeErrorf(n, path, "%s is negative (want 0s or more)", n.Value)
	default:
		v.SetInt(int64(length))
	}
}

// DurationHint suggests a valid duration instead of text. It converts days to hours. For a plain number it names
// seconds and minutes: Kubernetes counts some times in seconds and others in minutes, so it must not guess.
func DurationHint(text string) string {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	switch days := strings.HasSuffix(text, "d"); {
	case err == nil && days && n > 0 && n <= 9999:
		return fmt.Sprintf("did you mean %dh?", 24*n)
	case err == nil && !days:
		return fmt.Sprintf("did you mean %ds or %dm?", n, n)
	}
	return "want a number and a unit, such as 90s, 5m or 1h30m"
}
