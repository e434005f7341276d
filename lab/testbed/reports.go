package testbed

import (
	"encoding/json"
	"strings"
)

// ReportFlags make `evenkeel run` write the report of each pass as a line of its log.
var ReportFlags = []string{"--log-format", "json", "--log-report", "full"}

// Reports returns the reports in a log that was written with ReportFlags. A line that is not complete yet is left out.
func Reports[T any](log string) (out []T) {
	for line := range strings.Lines(log) {
		var l struct{ Report *T }
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &l) == nil && l.Report != nil {
			out = append(out, *l.Report)
		}
	}
	return out
}
