package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// TestEveryCodeIsDocumented keeps reason.go and the reference in step.
func TestEveryCodeIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/reference/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllSubmatch(doc, -1) {
		documented = append(documented, string(m[1]))
	}
	codes := codesInSource(t)
	slices.Sort(documented)
	slices.Sort(codes)
	for _, c := range codes {
		if !slices.Contains(documented, c) {
			t.Errorf("code %s has no paragraph in docs/reference/reasons.md", c)
		}
	}
	for _, c := range documented {
		if !slices.Contains(codes, c) {
			t.Errorf("docs/reference/reasons.md documents %s, which plan/reason.go does not have", c)
		}
	}
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
