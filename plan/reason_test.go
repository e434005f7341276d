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

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// goldenFiles are patterns of files with output of the program. The package that owns a file checks the file in a test.
var goldenFiles = []string{
	"../planner/testdata/scenarios/*.txtar",
	"../strategies/testdata/*.txtar",
	"../strategies/*/testdata/*.txtar",
	"../planner/breaker/testdata/trips.txt",
	"../evictor/testdata/outcomes.txt",
	"../controller/testdata/outcomes.txt",
	"../controller/leader/testdata/outcomes.txt",
	"../cmd/evenkeel/testdata/script/*.txtar",
}

// TestEveryCodeIsDocumentedAndShown checks that docs/reference/reasons.md has a section with a message for each code,
// that the message occurs in a golden file, and that the meaning and the remedy are those of package plan.
func TestEveryCodeIsDocumentedAndShown(t *testing.T) {
	documented, answers, codes := documentedCodes(t), readMatchingFiles(t, goldenFiles), codesInSource(t)
	for _, c := range codes {
		p, ok := documented[c]
		if !ok {
			t.Errorf("code %s has no section in docs/reference/reasons.md", c)
			continue
		}
		message := messagePattern.FindStringSubmatch(p)
		switch {
		case message == nil:
			t.Errorf("the section of %s has no message (```text)", c)
		case !strings.Contains(answers, c+": "+message[1]+"\n") && !strings.Contains(answers, message[1]+" ("+c+").\n"):
			t.Errorf("no golden file has %s with the message of its section: %s", c, message[1])
		}
		meaning, remedy := plan.Code(c).Meaning(), plan.Code(c).Remedy()
		if meaning == "" {
			continue // an outcome, a reason for a move: no report says what it means in general
		}
		plain := strings.ReplaceAll(p, "`", "")
		if begin := strings.TrimSpace(plain); !strings.EqualFold(begin[:min(len(meaning), len(begin))], meaning) {
			t.Errorf("the section of %s does not begin with its meaning: %s", c, meaning)
		}
		documented := ""
		if m := remedyPattern.FindStringSubmatch(plain); m != nil {
			documented = m[1]
		}
		if documented != remedy {
			t.Errorf("the section of %s has the remedy %q, want %q", c, documented, remedy)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(documented)) {
		if !slices.Contains(codes, c) {
			t.Errorf("docs/reference/reasons.md documents %s, but plan/reason.go has no such code", c)
		}
	}
}

var (
	headingPattern = regexp.MustCompile(`(?m)^### (\w+)$`)
	remedyPattern  = regexp.MustCompile(`(?m)^Remedy: (.+)\.$`)
	messagePattern = regexp.MustCompile("(?m)^```text\n(.+)\n```$")
)

// documentedCodes returns the sections of docs/reference/reasons.md by code.
func documentedCodes(t *testing.T) map[string]string {
	t.Helper()
	text := readMatchingFiles(t, []string{"../docs/reference/reasons.md"})
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

func readMatchingFiles(t *testing.T, patterns []string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file matches %s: %v", pattern, err)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			b.Write(text)
		}
	}
	return b.String()
}

func codesInSource(t *testing.T) []string {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0))(t)
	var codes []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		s := must.Get(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value))(t)
		codes = append(codes, s)
		return true
	})
	return codes
}
