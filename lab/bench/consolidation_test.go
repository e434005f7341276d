package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestPackingTable checks the table for two programs. The first program found an empty node.
func TestPackingTable(t *testing.T) {
	s := settings{work: t.TempDir()}
	for _, p := range []Packing{
		{Program: "peer", EmptyBefore: 1, Rounds: []PackingRound{{Evictions: 30, Empty: 6, Seconds: 2}, {Empty: 6, Pending: 1, Seconds: 1}}},
		{Program: "evenkeel", Rounds: []PackingRound{{Evictions: 20, Bound: 20, Empty: 4, Seconds: 3}, {Evictions: 4, Bound: 3, Empty: 5, Seconds: 3}},
			Error: "it failed"},
	} {
		must.Succeed(t, writeJSON(s.resultPath(p.Program), p))
	}
	var b bytes.Buffer
	must.Succeed(t, printPacking(s, &b))
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"program rounds emptied nodes evictions per emptied node bound Pending seconds", "peer 2 5 30 6.0 0 1 3",
		"evenkeel 2 5 24 4.8 23 0 6 it failed"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
