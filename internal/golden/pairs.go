package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Pairs runs f on each pair of files in a txtar archive: it passes the first file to f and compares the result with the
// second. With -update it rewrites the second files.
func Pairs(t *testing.T, archive string, f func(t *testing.T, given []byte) string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar")+"/"+a.Files[i].Name, func(t *testing.T) {
			got, want := f(t, a.Files[i].Data), &a.Files[i+1].Data
			if Update() {
				*want = []byte(got)
			} else if d := cmp.Diff(string(*want), got); d != "" {
				t.Errorf("result differs (-want +got):\n%s", d)
			}
		})
	}
	if Update() {
		Write(t, archive, txtar.Format(a))
	}
}

// ErrorText returns the whole text of err. It fails the test if err is nil.
func ErrorText(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		t.Fatal("got no error, want one")
	}
	return err.Error() + "\n"
}
