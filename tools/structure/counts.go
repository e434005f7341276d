package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"
)

// Limits of the counts. A change may lower them only.
const (
	maxMethods = 40 // methods of one type through embedding
	maxCircles = 0  // pairs of folders that import each other
)

// printCounts prints the size of the code, and reports whether a limit is exceeded.
func printCounts(pkgs []*packages.Package) (exceeded bool, err error) {
	if err := printLines(); err != nil {
		return false, err
	}
	module := pkgs[0].Module.Path + "/"
	named, methods := 0, []typeMethods{}
	for _, p := range pkgs {
		found := methodsThroughEmbedding(p.Types, module)
		if isProduct(strings.TrimPrefix(p.PkgPath, module)) {
			named += len(found)
		}
		methods = append(methods, found...)
	}
	slices.SortFunc(methods, func(a, b typeMethods) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	fmt.Printf("named types of the product %d\nmethods through embedding:\n", named)
	for _, t := range methods[:min(10, len(methods))] {
		fmt.Printf("%27d  %s\n", t.n, strings.TrimPrefix(t.name, module))
	}
	circles := findCircles(pkgs, module)
	fmt.Printf("circles                 %d %s\n", len(circles), strings.Join(circles, ", "))
	for _, c := range []struct {
		what     string
		n, limit int
	}{{"methods through embedding", methods[0].n, maxMethods}, {"circles", len(circles), maxCircles}} {
		if c.n > c.limit {
			fmt.Printf("structure: %d %s, the limit is %d\n", c.n, c.what, c.limit)
			exceeded = true
		}
	}
	return exceeded, nil
}

// lineCount is the size of Go files. Blank lines have no columns.
type lineCount struct{ lines, blank, comments, columns int }

// printLines prints the size of all Go files in and below the current folder, generated files included.
func printLines() error {
	var product, rest, tests lineCount
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (path == "bin" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		switch {
		case strings.HasSuffix(path, "_test.go"):
			tests.add(source)
		case isProduct(filepath.ToSlash(path)):
			product.add(source)
		default:
			rest.add(source)
		}
		return err
	})
	fmt.Println("Go                      lines  columns per line  comments")
	for _, row := range []struct {
		name string
		lineCount
	}{{"product", product}, {"lab, verify, tools", rest}, {"tests", tests}} {
		fmt.Printf("%-20s %8d %17.1f %7.1f %%\n", row.name, row.lines,
			float64(row.columns)/float64(max(1, row.lines-row.blank)), 100*float64(row.comments)/float64(max(1, row.lines)))
	}
	return err
}

// isProduct reports whether a path, relative to the root, belongs to the product.
func isProduct(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return !slices.Contains([]string{"lab", "verify", "tools"}, top)
}

// add counts a file. A tab at the start of a line counts as four columns.
func (c *lineCount) add(source []byte) {
	for line := range bytes.Lines(source) {
		line = bytes.TrimRight(line, "\n")
		text := bytes.TrimLeft(line, "\t")
		c.lines++
		c.columns += 4*(len(line)-len(text)) + utf8.RuneCount(text)
		switch {
		case len(text) == 0:
			c.blank++
		case bytes.HasPrefix(text, []byte("//")):
			c.comments++
		}
	}
}

type typeMethods struct {
	name string
	n    int
}

// methodsThroughEmbedding counts the methods of each package-level type, with those of the types of the module that it
// embeds. An unexported struct with a single field adds its methods to the type that it wraps, if both are of one
// package, and has the methods of that type.
func methodsThroughEmbedding(pkg *types.Package, module string) (out []typeMethods) {
	var named []*types.Named
	wrappers := map[*types.Named][]*types.Named{}
	for _, name := range pkg.Scope().Names() {
		o, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		t := o.Type().(*types.Named)
		named = append(named, t)
		if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() == 1 && !o.Exported() {
			wrappers[namedOf(s.Field(0).Type())] = append(wrappers[namedOf(s.Field(0).Type())], t)
		}
	}
	for _, t := range named {
		methods, seen := map[*types.Func]bool{}, map[*types.Named]bool{}
		var collect func(t *types.Named)
		collect = func(t *types.Named) {
			if t == nil || seen[t] || t.Obj().Pkg() == nil || !strings.HasPrefix(t.Obj().Pkg().Path()+"/", module) {
				return
			}
			seen[t] = true
			for f := range t.Methods() {
				methods[f] = true
			}
			for _, w := range wrappers[t] {
				collect(w)
			}
			switch u := t.Underlying().(type) {
			case *types.Interface:
				for f := range u.Methods() {
					methods[f] = true
				}
			case *types.Struct:
				for f := range u.Fields() {
					if f.Embedded() || u.NumFields() == 1 && !t.Obj().Exported() {
						collect(namedOf(f.Type()))
					}
				}
			}
		}
		collect(t)
		out = append(out, typeMethods{pkg.Path() + "." + t.Obj().Name(), len(methods)})
	}
	return out
}

// namedOf returns a named type, also behind a pointer, or nil.
func namedOf(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin()
	}
	return nil
}

// findCircles lists the pairs of folders of which each imports the other, or packages below it. Both are in one folder,
// or one is a package below internal, which counts as a folder at the top.
func findCircles(pkgs []*packages.Package, module string) (pairs []string) {
	folders := func(pkg string) []string {
		pkg = strings.TrimPrefix(pkg, module)
		if strings.HasPrefix(pkg, "internal/") {
			return []string{pkg}
		}
		return strings.Split(pkg, "/")
	}
	imports := map[[2]string]bool{}
	for _, p := range pkgs {
		from := folders(p.PkgPath)
		for path := range p.Imports {
			to, i := folders(path), 0
			for i < min(len(from), len(to)) && from[i] == to[i] {
				i++
			}
			if strings.HasPrefix(path, module) && i < min(len(from), len(to)) {
				imports[[2]string{strings.Join(from[:i+1], "/"), strings.Join(to[:i+1], "/")}] = true
			}
		}
	}
	for e := range imports {
		if e[0] < e[1] && imports[[2]string{e[1], e[0]}] {
			pairs = append(pairs, e[0]+" and "+e[1])
		}
	}
	slices.Sort(pairs)
	return pairs
}
