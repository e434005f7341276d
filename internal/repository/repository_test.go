// Package repository tests files of the whole repository: its documents, and rules for all of its code.
package repository

import (
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}
