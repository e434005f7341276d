package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// maxPictureBytes keeps the repository small.
const maxPictureBytes = 150_000

var (
	picture      = regexp.MustCompile(`(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)`)
	pictureTag   = regexp.MustCompile(`!\[\]\(|<img [^>]*>`)
	pictureWords = regexp.MustCompile(`alt="[^"]+"`)
)

// TestPictures checks that every picture of the documentation exists and says in words what it shows, that every file
// below docs/pictures is used, and that it is small.
func TestPictures(t *testing.T) {
	used := map[string]bool{}
	for _, page := range documentation(t) {
		text := readText(t, page)
		for _, m := range picture.FindAllStringSubmatch(text, -1) {
			path := filepath.Join(filepath.Dir(page), m[1]+m[2])
			if strings.Contains(m[1]+m[2], "://") {
				continue
			}
			used[path] = true
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: there is no picture %s", page, path)
			}
		}
		for _, tag := range pictureTag.FindAllString(text, -1) {
			if !pictureWords.MatchString(tag) {
				t.Errorf("%s: the picture %s says nothing in words", page, tag)
			}
		}
	}
	for _, f := range must.Get(os.ReadDir("docs/pictures"))(t) {
		path := filepath.Join("docs/pictures", f.Name())
		if !used[path] {
			t.Errorf("no page uses %s", path)
		}
		if info := must.Get(f.Info())(t); info.Size() > maxPictureBytes {
			t.Errorf("%s has %d bytes, want at most %d", path, info.Size(), maxPictureBytes)
		}
	}
}
