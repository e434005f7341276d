package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"
)

// rejection is a statement that refuses an eviction.
type rejection struct {
	file      string
	line, col int
	text      string // the first line of the statement
}

func (r rejection) String() string { return fmt.Sprintf("%s:%d: %s", r.file, r.line, r.text) }

// reasonCodes returns the names of the constants of type Code in a file.
func reasonCodes(file string) (map[string]bool, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	codes := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if t, ok := v.Type.(*ast.Ident); ok && t.Name == "Code" {
				for _, name := range v.Names {
					codes[name.Name] = true
				}
			}
		}
		return true
	})
	return codes, nil
}

// rejectionsIn returns the rejections in a Go file.
func rejectionsIn(path string, codes map[string]bool) (all []rejection, err error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if !ok || !refuses(s, codes) {
			return true
		}
		pos := fset.Position(s.Pos())
		all = append(all, rejection{path, pos.Line, pos.Column, firstLine(fset, s)})
		return true
	})
	return all, nil
}

// refuses reports whether a statement refuses an eviction. Statements that contain other statements never do.
func refuses(s ast.Stmt, codes map[string]bool) bool {
	switch s := s.(type) {
	case *ast.AssignStmt, *ast.ExprStmt:
		return mentions(s, codes)
	case *ast.ReturnStmt:
		if len(s.Results) == 0 {
			return false
		}
		switch last := s.Results[len(s.Results)-1].(type) {
		case *ast.BinaryExpr:
			return last.Op == token.ADD && mentions(s, codes)
		case *ast.UnaryExpr:
			return last.Op == token.AND && mentions(s, codes)
		case *ast.Ident:
			return len(s.Results) > 1 && last.Name == "true" ||
				(last.Name == "false" || last.Name == "nil") && mentions(s, codes)
		}
		return mentions(s, codes)
	}
	return false
}

// mentions reports whether a statement contains a reason code or the text of a message, outside of function literals.
func mentions(s ast.Stmt, codes map[string]bool) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			found = found || ok && pkg.Name == "plan" && codes[n.Sel.Name]
		case *ast.BasicLit:
			found = found || n.Kind == token.STRING && strings.Contains(n.Value, " ")
		}
		return !found
	})
	return found
}

// firstLine returns the source of a statement up to the end of its first line.
func firstLine(fset *token.FileSet, s ast.Stmt) string {
	var text strings.Builder
	_ = printer.Fprint(&text, fset, s) // a strings.Builder returns no error
	line, _, _ := strings.Cut(text.String(), "\n")
	return line
}
