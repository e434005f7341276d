package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestMethodsThroughEmbedding checks that neither a chain of structs nor a wrapper hides methods.
func TestMethodsThroughEmbedding(t *testing.T) {
	const source = `package p
type state struct{ n int }
func (state) a() {}
type wave struct { *state; n int }
func (wave) a() {}
func (wave) b() {}
type helper struct { of *wave }
func (helper) c() {}
type other struct { of *wave; n int }
func (other) d() {}`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("m/p", set, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"m/p.state": 1, "m/p.wave": 4, "m/p.helper": 4, "m/p.other": 1}
	for _, got := range methodsThroughEmbedding(pkg, "m/") {
		if got.n != want[got.name] {
			t.Errorf("%s has %d methods, want %d", got.name, got.n, want[got.name])
		}
	}
}
