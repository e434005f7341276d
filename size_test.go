package evenkeel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits that keep the code navigable. If a change must exceed one, it changes the number here
// and gives the reason beside it.
const (
	maxTopFolders   = 23 // deploy has the manifests for people without Helm
	maxPackageFiles = 27 // Go files of a package, without tests: each guard is a file
	// planner/search tries several orders in which nodes are emptied, in turns among namespaces, until its time is
	// over. cluster models every kind of object that a plan depends on, and how full its nodes will be. The others have
	// at most 3,500 lines.
	maxPackageLines   = 4400 // lines of a package, without tests
	maxMethodsPerType = 34   // five types of the planner have more than 30
)

type packageSize struct {
	files, lines int
	methods      map[string]int
}

// TestSizes checks packages, types and top-level folders against the limits above.
func TestSizes(t *testing.T) {
	for pkg, size := range packageSizes(t) {
		if size.files > maxPackageFiles {
			t.Errorf("package %s has %d files without tests, the limit is %d", pkg, size.files, maxPackageFiles)
		}
		if size.lines > maxPackageLines {
			t.Errorf("package %s has %d lines without tests, the limit is %d", pkg, size.lines, maxPackageLines)
		}
		for name, n := range size.methods {
			if n > maxMethodsPerType {
				t.Errorf("type %s.%s has %d methods, the limit is %d", pkg, name, n, maxMethodsPerType)
			}
		}
	}
	if n := len(topFolders(t)); n > maxTopFolders {
		t.Errorf("%d folders at the top, the limit is %d", n, maxTopFolders)
	}
}

// packageSizes measures every package of the repository, the lab included, by its folder.
func packageSizes(t *testing.T) map[string]*packageSize {
	t.Helper()
	sizes := map[string]*packageSize{}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		if sizes[pkg] == nil {
			sizes[pkg] = &packageSize{methods: map[string]int{}}
		}
		return sizes[pkg].add(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// add counts one file.
func (s *packageSize) add(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s.files++
	s.lines += strings.Count(string(source), "\n")
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
			s.methods[receiverType(f)]++
		}
	}
	return nil
}

// receiverType returns the name of the type that a method belongs to.
func receiverType(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch x := expr.(type) {
		case *ast.StarExpr:
			expr = x.X
		case *ast.IndexExpr:
			expr = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// topFolders lists the folders at the top of the repository that hold tracked content. bin/ holds
// build results.
func topFolders(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains([]string{"bin"}, e.Name()) {
			folders = append(folders, e.Name())
		}
	}
	return folders
}
