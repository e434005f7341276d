package usage

import (
	"slices"
	"testing"
)

var namedNodes = []Node{
	{Name: "n1", Hostname: "n1", InternalIPs: []string{"10.0.0.1", "fd00::1"}},
	{Name: "n2", Hostname: "worker", InternalIPs: []string{"10.0.0.2"}},
	{Name: "n3", Hostname: "worker", InternalIPs: []string{"10.0.0.3"}},
	{Name: "10.0.0.9", InternalIPs: []string{"10.0.0.4"}},
	{Name: "n5", Hostname: "host-5", InternalIPs: []string{"10.0.0.9"}},
	{Name: "10.0.0.6", Hostname: "10.0.0.6", InternalIPs: []string{"10.0.0.6"}},
	{Name: "worker-7.example.com", InternalIPs: []string{"FD00:0:0::7", "not an address"}},
	{Name: "n8", Hostname: "n2"}, // the name of another node
	{},
}

func TestWhichNodeAnAnswerNames(t *testing.T) {
	index := newNodeIndex(namedNodes)
	for text, want := range map[string][]int{
		"n1":                        {0},
		"n1:9100":                   {0},
		"10.0.0.1":                  {0},
		"10.0.0.1:9100":             {0},
		"[10.0.0.1]:9100":           {0},
		"::ffff:10.0.0.1":           {0},
		"fd00::1":                   {0},
		"[fd00::1]":                 {0},
		"[fd00::1]:9100":            {0},
		"[FD00:0::0:1]:10250":       {0},
		"fd00::1:9100":              nil, // an address without a port
		"host-5":                    {4},
		"host-5:1":                  {4},
		"10.0.0.6:9100":             {5}, // name, hostname and address of one node
		"worker":                    {1, 2},
		"worker:9100":               {1, 2},
		"10.0.0.9":                  {3, 4}, // the name of one node and the address of another
		"10.0.0.9:9100":             {3, 4},
		"n2":                        {1, 7}, // the name of one node and the hostname of another
		"fd00::7":                   {6},
		"not an address":            {6},
		"worker-7.example.com:9100": {6},
		"worker-7":                  nil, // partial names do not match
		"N1":                        nil,
		"n1.":                       nil,
		"10.0.0.11":                 nil,
		"10.0.0.1:":                 nil,
		"10.0.0.1:0":                nil,
		"10.0.0.1:65536":            nil,
		"10.0.0.1:http":             nil,
		"10.0.0.1:+9100":            nil,
		"http://10.0.0.1:9100":      nil,
		"[n1]":                      nil,
		"[10.0.0.1]":                nil,
		":9100":                     nil,
		"[]:9100":                   nil,
		"":                          nil,
		" n1":                       nil,
	} {
		if got := index.find(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"n1", "10.0.0.1:9100", "[fd00::1]:9100", "fd00::1%eth0", "[[::]]:1", "worker:9100", ":"} {
		f.Add(s)
	}
	index := newNodeIndex(namedNodes)
	f.Fuzz(func(t *testing.T, text string) {
		found := index.find(text)
		for _, n := range found {
			if node := namedNodes[n]; node.Name == "" {
				t.Fatalf("%q matches a node without a name", text)
			}
		}
		// A port does not change the result for a name without a port, unless name and port
		// together form an address.
		if with := index.find(text + ":9100"); len(found) > 0 && canonicalAddress(text+":9100") == text+":9100" && text[0] != '[' &&
			len(with) > 0 && !slices.Equal(found, with) {
			t.Fatalf("%q: %v, with a port %v", text, found, with)
		}
	})
}
