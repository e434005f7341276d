package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// goldenFiles are the files that hold answers of the program, word for word: each is
// written and held by a test of its own package.
var goldenFiles = []string{
	"../planner/testdata/scenarios/*.txtar",
	"../planner/breaker/testdata/trips.txt",
	"../evictor/testdata/outcomes.txt",
	"../controller/testdata/outcomes.txt",
	"../controller/leader/testdata/outcomes.txt",
	"../cmd/evenkeel/testdata/script/*.txtar",
}

// TestEveryCodeIsDocumentedAndShown keeps three things in step: the codes in
// reason.go, a paragraph with an example for each in the reference, and a test
// in which the program gives that example as its answer.
func TestEveryCodeIsDocumentedAndShown(t *testing.T) {
	documented, answers, codes := documentedCodes(t), readAll(t, goldenFiles), codesInSource(t)
	for _, c := range codes {
		p, ok := documented[c]
		if !ok {
			t.Errorf("code %s has no paragraph in docs/reference/reasons.md", c)
			continue
		}
		example := examplePattern.FindStringSubmatch(p)
		switch {
		case !strings.Contains(p, "\nTo change it: "):
			t.Errorf("the paragraph of %s does not say how to change it", c)
		case example == nil:
			t.Errorf("the paragraph of %s has no line with an example (Example: `...`)", c)
		case !strings.Contains(answers, c+": "+example[1]+"\n") && !strings.Contains(answers, example[1]+" ("+c+").\n"):
			t.Errorf("in no test is %s answered with the example of its paragraph: %s", c, example[1])
		}
	}
	for _, c := range slices.Sorted(maps.Keys(documented)) {
		if !slices.Contains(codes, c) {
			t.Errorf("docs/reference/reasons.md documents %s, which plan/reason.go does not have", c)
		}
	}
}

var (
	headingPattern = regexp.MustCompile(`(?m)^### (\w+)$`)
	examplePattern = regexp.MustCompile("(?m)^Example: `(.+)`$")
)

// documentedCodes of the reference, by code.
func documentedCodes(t *testing.T) map[string]string {
	t.Helper()
	text := readAll(t, []string{"../docs/reference/reasons.md"})
	out := map[string]string{}
	at := headingPattern.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		code := text[m[2]:m[3]]
		if _, twice := out[code]; twice {
			t.Errorf("docs/reference/reasons.md documents %s twice", code)
		}
		out[code] = text[m[1]:end]
	}
	return out
}

func readAll(t *testing.T, patterns []string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
	}
	return b.String()
}

func codesInSource(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, s)
		return true
	})
	return codes
}
