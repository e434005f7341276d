package conformance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var (
	casesDir = flag.String("cases", "testdata", "folder of the cases")
	onlyCase = flag.String("case", "", "only the cases whose ID contains this text, with details")
)

// differencesDoc describes each trait, and has the table of the results.
const differencesDoc = "../../docs/reference/descheduler-differences.md"

// TestConformance compares the plan for each case with the recorded evictions. No case may be
// wrong. For the cases of this repository, the traits of each case and the table of the results
// must be those in the files.
func TestConformance(t *testing.T) {
	root := filepath.Clean(*casesDir)
	cases := must.Get(readCases(root))(t)
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", root)
	}
	results, differences := newTable(), []string{}
	for _, c := range cases {
		if !strings.Contains(c.ID, *onlyCase) {
			continue
		}
		r, err := runCase(c)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		v := judge(c, r)
		results.add(c, r, v)
		if len(v.traits) > 0 {
			differences = append(differences, c.ID+": "+strings.Join(v.traits, " "))
		}
		if v.outcome == wrong {
			t.Errorf("%s: the descheduler evicts %v, Evenkeel %v\n\t%s", c.ID, c.evicted(), r.movedAsked(c), strings.Join(v.problems, "\n\t"))
		}
		if *onlyCase != "" {
			t.Logf("%s: %s %v\nthe descheduler evicts %v, Evenkeel %v\nstay: %v\n%s", c.ID, v.outcome, v.traits, c.evicted(), r.moved, r.rejected, r.conf)
		}
	}
	fmt.Print(results.text())
	if root == "testdata" && *onlyCase == "" {
		golden.EqualLines(t, "differences.txt", differences)
		checkDocument(t, results)
	}
}

// TestOrderOfObjects checks that the plans do not depend on the order in which a case lists its objects.
func TestOrderOfObjects(t *testing.T) {
	cases := must.Get(readCases("testdata"))(t)
	for _, c := range cases {
		reversed := *c
		reversed.Objects = slices.Clone(c.Objects)
		slices.Reverse(reversed.Objects)
		r := must.Get(runCase(c))(t)
		s := must.Get(runCase(&reversed))(t)
		if !slices.Equal(r.moved, s.moved) {
			t.Errorf("%s: moves %v, and with the objects in reverse order %v", c.ID, r.moved, s.moved)
		}
	}
}

// checkDocument checks that the document has the table, and a heading for each trait.
func checkDocument(t *testing.T, results *table) {
	t.Helper()
	text := must.Get(os.ReadFile(differencesDoc))(t)
	if !strings.Contains(string(text), results.text()) {
		t.Errorf("%s lacks this table:\n%s", differencesDoc, results.text())
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	if passes := fmt.Sprintf("%d of the cases need more than one pass", results.severalPasses); !strings.Contains(words, passes) {
		t.Errorf("%s lacks the words: %s", differencesDoc, passes)
	}
	for _, trait := range traits {
		if !strings.Contains(string(text), "| `"+trait.name+"` | ") {
			t.Errorf("%s lacks a row for the trait %s", differencesDoc, trait.name)
		}
		if results.byTrait[trait.name] == 0 {
			t.Errorf("no case has the trait %s", trait.name)
		}
	}
}
