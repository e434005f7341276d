package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/internal/golden"
)

// runPairs goes through an archive whose files come in pairs: what is given, and what is
// wanted of it. The archive's comment is ignored.
func runPairs(t *testing.T, file string, of func(t *testing.T, given []byte) string) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+a.Files[i].Name, func(t *testing.T) {
			got, want := of(t, a.Files[i].Data), &a.Files[i+1].Data
			if golden.Update() {
				*want = []byte(got)
			} else if d := cmp.Diff(string(*want), got); d != "" {
				t.Error(d)
			}
		})
	}
	if golden.Update() {
		golden.Write(t, file, txtar.Format(a))
	}
}

// requireError is the whole error, which there must be.
func requireError(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		t.Fatal("accepted")
	}
	return err.Error() + "\n"
}
