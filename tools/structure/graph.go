package main

import (
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// reference records that one file uses names of another. Both files are indexes of graph.files.
type reference struct{ from, to int }

// graph holds the references between the files of one package, without tests.
type graph struct {
	files []string
	lines int
	names map[reference]map[string]bool // the names that cause each reference
}

func newGraph(p *packages.Package) *graph {
	g := &graph{names: map[reference]map[string]bool{}}
	index := map[string]int{}
	for _, f := range p.Syntax {
		path := p.Fset.Position(f.Package).Filename
		if source, err := os.ReadFile(path); err == nil {
			g.lines += strings.Count(string(source), "\n")
		}
		index[path] = len(g.files)
		g.files = append(g.files, filepath.Base(path))
	}
	for _, f := range p.Syntax {
		from := index[p.Fset.Position(f.Package).Filename]
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				g.add(p, index, from, id)
			}
			return true
		})
	}
	return g
}

// add records the use of a package-level name, a method or a field that another file declares.
func (g *graph) add(p *packages.Package, index map[string]int, from int, id *ast.Ident) {
	o := p.TypesInfo.Uses[id]
	if o == nil || o.Pkg() != p.Types || !declaredOutsideFunctions(p.Types, o) {
		return
	}
	to, ok := index[p.Fset.Position(o.Pos()).Filename]
	if !ok || to == from {
		return
	}
	r := reference{from, to}
	if g.names[r] == nil {
		g.names[r] = map[string]bool{}
	}
	g.names[r][id.Name] = true
}

func declaredOutsideFunctions(pkg *types.Package, o types.Object) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == pkg.Scope()
}

// bestOrder looks for the order of files, from top to bottom, with the fewest references that point up. It
// improves several orders by moving one file at a time, so it may miss the optimum. One round costs O(files^2).
func (g *graph) bestOrder() []int {
	uses := make([][]int, len(g.files))
	for i := range uses {
		uses[i] = make([]int, len(g.files))
	}
	for r := range g.names {
		uses[r.from][r.to] = 1
	}
	var best []int
	fewest := -1
	for start := range len(g.files) {
		order := make([]int, len(g.files))
		for i := range order {
			order[i] = (start + i) % len(g.files)
		}
		for improve(order, uses) {
		}
		if n := countUp(order, uses); fewest < 0 || n < fewest {
			best, fewest = slices.Clone(order), n
		}
	}
	return best
}

// improve moves one file to a better place. It returns false if no single move helps.
func improve(order []int, uses [][]int) bool {
	for i, file := range order {
		rest := slices.Delete(slices.Clone(order), i, i+1)
		// If the file comes first in the order, every reference to it counts as
		// pointing up.
		up, here := 0, 0
		for _, other := range rest {
			up += uses[other][file]
		}
		at, fewest := 0, up
		for k, other := range rest {
			if k == i {
				here = up
			}
			up += uses[file][other] - uses[other][file]
			if up < fewest {
				at, fewest = k+1, up
			}
		}
		if i == len(rest) {
			here = up
		}
		if fewest < here {
			copy(order, slices.Insert(rest, at, file))
			return true
		}
	}
	return false
}

func countUp(order []int, uses [][]int) (n int) {
	for i, above := range order {
		for _, below := range order[i+1:] {
			n += uses[below][above]
		}
	}
	return n
}

// pointingUp lists the references that point up in an order, sorted by file.
func (g *graph) pointingUp(order []int) (up []reference) {
	place := make([]int, len(order))
	for i, file := range order {
		place[file] = i
	}
	for r := range g.names {
		if place[r.from] > place[r.to] {
			up = append(up, r)
		}
	}
	slices.SortFunc(up, func(a, b reference) int {
		return strings.Compare(g.files[a.from]+" "+g.files[a.to], g.files[b.from]+" "+g.files[b.to])
	})
	return up
}
