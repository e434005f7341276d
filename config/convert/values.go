package convert

import "strings"

// ChartValues returns a config.yaml as values of Evenkeel's chart. The comments at the beginning stay at the beginning.
func ChartValues(config string) string {
	head, body := "", config
	for strings.HasPrefix(body, "#") {
		line, rest, _ := strings.Cut(body, "\n")
		head, body = head+line+"\n", rest
	}
	var out strings.Builder
	out.WriteString(head + "config:\n")
	for _, line := range strings.SplitAfter(body, "\n") {
		if line != "" {
			out.WriteString("  " + line)
		}
	}
	return out.String()
}
