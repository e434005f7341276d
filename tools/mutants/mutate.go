package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Mutant is one small change of a source file.
type Mutant struct {
	File     string // slash-separated, relative to the root of the module
	Line     int
	Func     string // the function that contains the change
	Operator string // the kind of change
	Old, New string // the text that is replaced, and its replacement
	Nth      int    // counts equal changes of the function, from 1

	start, end int // byte offsets of Old in the file
}

// ID names the mutant without its line number, so that the name survives changes elsewhere in the file.
func (m Mutant) ID() string {
	id := fmt.Sprintf("%s %s %s: %s -> %s", m.File, m.Func, m.Operator, oneLine(m.Old), oneLine(m.New))
	if m.Nth > 1 {
		id += fmt.Sprintf(" (number %d)", m.Nth)
	}
	return id
}

func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d %s %s: %s -> %s", m.File, m.Line, m.Func, m.Operator, oneLine(m.Old), oneLine(m.New))
}

// Apply returns the source with the change.
func (m Mutant) Apply(src []byte) []byte {
	return slices.Concat(src[:m.start], []byte(m.New), src[m.end:])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Mutants returns the mutants of a file, in the order of the source. The path is relative to the current directory.
func Mutants(path string) ([]Mutant, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	c := collector{src: src, fset: fset, file: path}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil && !describesOnly(f.Name.Name) {
			c.fn = funcName(f)
			ast.Inspect(f.Body, c.visit)
		}
	}
	numberEqual(c.out)
	return c.out, nil
}

// numberEqual sets Nth, so that no two mutants have the same name.
func numberEqual(mutants []Mutant) {
	seen := map[string]int{}
	for i := range mutants {
		m := &mutants[i]
		id := m.ID()
		seen[id]++
		m.Nth = seen[id]
	}
}

// describesOnly reports whether the function writes text for people. The text decides nothing.
func describesOnly(name string) bool {
	return name == "String" || name == "Error" || strings.HasPrefix(name, "describe")
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// collector gathers the mutants of one file.
type collector struct {
	src      []byte
	fset     *token.FileSet
	file, fn string
	out      []Mutant
}

func (c *collector) text(n ast.Node) string {
	return string(c.src[c.fset.Position(n.Pos()).Offset:c.fset.Position(n.End()).Offset])
}

// replace adds a mutant that replaces the text of length bytes at pos.
func (c *collector) replace(operator string, pos token.Pos, length int, replacement string) {
	p := c.fset.Position(pos)
	c.out = append(c.out, Mutant{File: c.file, Line: p.Line, Func: c.fn, Operator: operator,
		Old: string(c.src[p.Offset : p.Offset+length]), New: replacement, start: p.Offset, end: p.Offset + length})
}

func (c *collector) replaceNode(operator string, n ast.Node, replacement string) {
	c.replace(operator, n.Pos(), int(n.End()-n.Pos()), replacement)
}

// swapped maps an operator to the operator that a programmer could have written by mistake.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		// The condition stays in the code, so that its variables are used.
		cond := c.text(n.Cond)
		c.replaceNode("never", n.Cond, "("+cond+") && false")
		c.replaceNode("always", n.Cond, "("+cond+") || true")
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok {
			c.replace("operator", n.OpPos, len(n.Op.String()), to.String())
		}
	case *ast.ReturnStmt:
		for _, r := range n.Results {
			if id, ok := r.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
				c.replaceNode("result", id, strconv.FormatBool(id.Name == "false"))
			}
		}
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok == token.CONTINUE {
			c.replaceNode("branch", n, "break")
		}
	case *ast.IncDecStmt:
		c.replaceNode("drop", n, "_ = 0")
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			c.replaceNode("drop", n, "_ = "+c.text(n.Rhs[0]))
		}
		if n.Tok == token.ASSIGN && len(n.Lhs) == 1 && len(n.Rhs) == 1 && c.text(n.Lhs[0]) != "_" {
			c.replaceNode("drop", n, "_ = "+c.text(n.Rhs[0]))
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !reportsOnly(c.text(call.Fun)) {
			c.replaceNode("drop", n, "_ = 0")
		}
	case *ast.CallExpr:
		if reportsOnly(c.text(n.Fun)) {
			return false // the arguments are part of a message
		}
	}
	return true
}

// reportsOnly reports whether the function writes a message, or synchronizes goroutines. The tests judge what the
// program does; the race detector and the drills judge its locks.
func reportsOnly(fn string) bool {
	name := fn[strings.LastIndex(fn, ".")+1:]
	switch name {
	case "Sprintf", "Errorf", "Info", "Warn", "Error", "Debug", "InfoContext", "WarnContext", "ErrorContext",
		"Lock", "Unlock", "RLock", "RUnlock", "cancel", "panic":
		return true
	}
	return false
}
