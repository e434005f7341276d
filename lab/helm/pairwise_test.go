package helm_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// factor is a group of values with several settings, which are values of the chart by name.
type factor struct {
	name     string
	names    []string // of the settings, in the order of the file
	settings map[string]manifest
}

// table is what testdata/pairwise-factors.yaml says.
type table struct {
	factors    []factor
	impossible map[[2]string]bool // pairs such as push=on and kind=deployment, in both orders
}

const tableFile = "testdata/pairwise.yaml"

func readFactors(t *testing.T) table {
	t.Helper()
	text, err := os.ReadFile("testdata/pairwise-factors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Factors []struct {
			Name     string
			Settings yaml.Node
		}
		Impossible [][2]string
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	out := table{impossible: map[[2]string]bool{}}
	for _, f := range file.Factors {
		next := factor{name: f.Name, settings: map[string]manifest{}}
		for i := 0; i < len(f.Settings.Content); i += 2 {
			name := f.Settings.Content[i].Value
			next.names = append(next.names, f.Name+"="+name)
			var values manifest
			if err := f.Settings.Content[i+1].Decode(&values); err != nil {
				t.Fatal(err)
			}
			next.settings[f.Name+"="+name] = values
		}
		out.factors = append(out.factors, next)
	}
	for _, p := range file.Impossible {
		out.impossible[p], out.impossible[[2]string{p[1], p[0]}] = true, true
	}
	return out
}

// pairs returns every possible pair of settings of two factors.
func (t table) pairs() (all [][2]string) {
	for i, f := range t.factors {
		for _, g := range t.factors[i+1:] {
			for _, a := range f.names {
				for _, b := range g.names {
					if !t.impossible[[2]string{a, b}] {
						all = append(all, [2]string{a, b})
					}
				}
			}
		}
	}
	return all
}

// rows returns sets of settings, one of each factor, that contain every possible pair. Each row begins with the first
// pair that no row contains yet, and takes of each other factor the setting that adds the most such pairs.
func (t table) rows() (rows [][]string) {
	missing := map[[2]string]bool{}
	for _, p := range t.pairs() {
		missing[p] = true
	}
	for _, p := range t.pairs() {
		if !missing[p] {
			continue
		}
		row := t.complete(p[:], missing)
		rows = append(rows, row)
		for i, a := range row {
			for _, b := range row[i+1:] {
				delete(missing, [2]string{a, b})
			}
		}
	}
	return rows
}

// complete adds a setting of each factor that row has none of. It returns the row in the order of the factors.
func (t table) complete(row []string, missing map[[2]string]bool) (sorted []string) {
	for _, f := range t.factors {
		if slices.ContainsFunc(f.names, func(n string) bool { return slices.Contains(row, n) }) {
			continue
		}
		best, most := "", -1
		for _, n := range f.names {
			gain := 0
			for _, other := range row {
				if t.impossible[[2]string{n, other}] {
					gain = -1
					break
				}
				if missing[[2]string{n, other}] || missing[[2]string{other, n}] {
					gain++
				}
			}
			if gain > most {
				best, most = n, gain
			}
		}
		if best == "" {
			panic(fmt.Sprintf("no setting of %s goes with %v: add what follows from `impossible` to it", f.name, row))
		}
		row = append(slices.Clone(row), best)
	}
	for _, f := range t.factors {
		for _, n := range f.names {
			if slices.Contains(row, n) {
				sorted = append(sorted, n)
			}
		}
	}
	return sorted
}

// merge adds values to others, map by map.
func merge(into, from manifest) {
	for key, v := range from {
		have, isMap := into[key].(manifest)
		if add, ok := v.(manifest); ok && isMap {
			merge(have, add)
		} else if ok {
			into[key] = manifest{}
			merge(into[key].(manifest), add)
		} else {
			into[key] = v
		}
	}
}

// text returns the table: a YAML document per row, which begins with a comment that names its settings.
func (t table) text(rows [][]string) string {
	var out strings.Builder
	out.WriteString("# Made by `go test . -run TestPairwise -update` from pairwise-factors.yaml.\n")
	for _, row := range rows {
		values := manifest{}
		for i, name := range row {
			merge(values, t.factors[i].settings[name])
		}
		text, err := yaml.Marshal(values)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&out, "---\n# %s\n%s", strings.Join(row, " "), text)
	}
	return out.String()
}

// TestPairwise checks that the table contains every possible pair of settings, and that it is what the factors make.
func TestPairwise(t *testing.T) {
	factors := readFactors(t)
	if *update {
		if err := os.WriteFile(tableFile, []byte(factors.text(factors.rows())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(have)) {
		if row, ok := strings.CutPrefix(line, "# kind="); ok {
			rows = append(rows, strings.Fields("kind="+row))
		}
	}
	for _, p := range factors.pairs() {
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Contains(row, p[0]) && slices.Contains(row, p[1]) }) {
			t.Errorf("no row has %s and %s", p[0], p[1])
		}
	}
	if string(have) != factors.text(rows) {
		t.Errorf("%s differs from its factors; run `go test . -run TestPairwise -update`", tableFile)
	}
	t.Logf("%d factors, %d pairs of settings, %d rows", len(factors.factors), len(factors.pairs()), len(rows))
}

// TestPairwiseRowsRender renders and lints the chart with each row of the table.
func TestPairwiseRowsRender(t *testing.T) {
	eachPairwiseRow(t, func(title, values string) {
		out, errs, err := runHelm(t, "template", "ek", chart, "--namespace", "ek-system", "--values", values)
		if err != nil {
			t.Errorf("%s: %s", title, errs)
			return
		}
		if len(podTemplates(t, out)) == 0 {
			t.Errorf("%s: no pods", title)
		}
		if out, errs, err := runHelm(t, "lint", "--strict", chart, "--values", values); err != nil {
			t.Errorf("%s: helm lint: %s%s", title, out, errs)
		}
	})
}

// eachPairwiseRow calls f for each row of the table, with the name of a file of its values.
func eachPairwiseRow(t *testing.T, f func(title, values string)) {
	t.Helper()
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range strings.Split(string(text), "\n---\n")[1:] {
		file := fmt.Sprintf("%s/row-%d.yaml", t.TempDir(), i+1)
		if err := os.WriteFile(file, []byte(row), 0o600); err != nil {
			t.Fatal(err)
		}
		title, _, _ := strings.Cut(row, "\n")
		f(fmt.Sprintf("row %d %s", i+1, title), file)
	}
}
