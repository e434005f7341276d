package html

import (
	"strings"
	"testing"
)

// Heads of columns keep what differs between the names.
func TestColumnHeads(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"eu-central-1a eu-central-1b", "1a 1b"},
		{"ip-10-0-0-12.eu.internal ip-10-0-1-7.eu.internal", "0-12 1-7"},
		{"zone-1 zone-2", " "},
		{"eu-central-1a us-east-1b", " "},
		{"eu-central-1 eu-central-1-b", "1 1-b"},
		{"node-0000001.a node-0000002.b", "0000001.a 0000002.b"},
		{"a-very-long-name", ""},
		{"same-long-name same-long-name", "name name"},
	} {
		var got []string
		for _, h := range columnHeads(strings.Fields(c.names)) {
			got = append(got, h.Rest)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: the heads are %q, want %q", c.names, got, c.want)
		}
	}
}
