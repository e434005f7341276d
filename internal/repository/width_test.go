package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// maxCommentColumns limits the lines of comments. A tab counts as four columns.
const maxCommentColumns = 120

// TestCommentWidth checks that every line that is only a comment fits maxCommentColumns.
func TestCommentWidth(t *testing.T) {
	must.Succeed(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(source), "\n") {
			text := strings.TrimLeft(line, "\t")
			if columns := 4*(len(line)-len(text)) + len([]rune(text)); strings.HasPrefix(text, "// ") && columns > maxCommentColumns {
				t.Errorf("%s:%d: the comment has %d columns, the limit is %d", path, i+1, columns, maxCommentColumns)
			}
		}
		return nil
	}))
}
