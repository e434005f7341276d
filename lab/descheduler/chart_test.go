package descheduler

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	convert "github.com/evenkeel-project/evenkeel/config/convert/descheduler"
)

// otherValues are values of the chart that must have a certain form. The test gives other values to the
// remaining ones by their type.
var otherValues = map[string]any{
	"kind": "Deployment", "schedule": "0 * * * *", "deschedulingInterval": "10m", "timeZone": "Europe/Berlin",
	"deschedulerPolicyAPIVersion": "Version", "nodeSelector": map[string]any{"pool": "a"},
	// These are comments in the chart's values.
	"startingDeadlineSeconds": 200, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1, "ttlSecondsAfterFinished": 600,
	"activeDeadlineSeconds": 60, "automountServiceAccountToken": true, "extraServiceAccountVolumes": []any{map[string]any{"name": "v"}},
	"extraServiceAccountVolumeMounts": []any{map[string]any{"name": "v", "mountPath": "/v"}}, "serviceAccount.automountServiceAccountToken": true,
}

// ofDeployments are the values that only a Deployment has. The chart's default is a CronJob.
var ofDeployments = []string{"replicas", "deschedulingInterval", "leaderElection"}

// TestEveryChartValueHasAnEffect changes each value of the descheduler's chart. Its conversion must be
// another one, or it must name the value in a comment, or be an error that does.
func TestEveryChartValueHasAnEffect(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(peerDirectory(t), "charts/descheduler/values.yaml"))
	check(t, err)
	paths := valuePaths(t, text)
	if len(paths) < 50 {
		t.Fatalf("only %d values: %v", len(paths), paths)
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			var values map[string]any
			check(t, yaml.Unmarshal(text, &values))
			if slices.Contains(ofDeployments, path) {
				values["kind"] = "Deployment"
			}
			before := convertValues(t, values)
			setValue(values, path)
			changed, err := yaml.Marshal(values)
			check(t, err)
			after, err := convert.Convert(changed, convert.Options{})
			switch {
			case err != nil:
				if want := strings.TrimPrefix(path, "deschedulerPolicyAPI"); !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not contain %q: %v", want, err)
				}
			case withoutComments(after.Values) == withoutComments(before.Values) && !namesValue(after, path):
				t.Errorf("the value is dropped; notes: %+v", slices.Concat(after.Notes, after.ChartNotes))
			}
		})
	}
}

// namesValue reports whether a note, which is also a comment, names the value or the key above it.
func namesValue(r *convert.Result, path string) bool {
	key, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(slices.Concat(r.Notes, r.ChartNotes), func(n convert.Note) bool {
		names := strings.Split(n.Field, ", ")
		return (slices.Contains(names, path) || slices.Contains(names, key)) && strings.Contains(comments(r.Values), n.Text)
	})
}

func convertValues(t *testing.T, values map[string]any) *convert.Result {
	t.Helper()
	text, err := yaml.Marshal(values)
	check(t, err)
	r, err := convert.Convert(text, convert.Options{})
	check(t, err)
	return r
}

// valuePaths returns the paths of all values of a chart, and of those in otherValues. The policy has a test of
// its own.
func valuePaths(t *testing.T, text []byte) []string {
	t.Helper()
	var values map[string]any
	check(t, yaml.Unmarshal(text, &values))
	delete(values, "deschedulerPolicy")
	paths := map[string]bool{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for k, v := range m {
			if nested, is := v.(map[string]any); is && len(nested) > 0 {
				walk(prefix+k+".", nested)
			} else {
				paths[prefix+k] = true
			}
		}
	}
	walk("", values)
	for p := range otherValues {
		paths[p] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// setValue changes the value at a path.
func setValue(values map[string]any, path string) {
	at, rest := values, path
	for {
		key, below, more := strings.Cut(rest, ".")
		if !more {
			at[key] = otherValue(path, at[key])
			return
		}
		next, is := at[key].(map[string]any)
		if !is {
			next = map[string]any{}
			at[key] = next
		}
		at, rest = next, below
	}
}

// otherValue returns a value that is not the default.
func otherValue(path string, v any) any {
	if other, has := otherValues[path]; has {
		return other
	}
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case []any:
		return append(v, map[string]any{"name": "other"})
	case map[string]any:
		return map[string]any{"other": "value"}
	}
	return "other"
}
