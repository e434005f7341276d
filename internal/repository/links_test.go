package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

var (
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageTitle = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	pageID    = regexp.MustCompile(`id="([^"]+)"`)
	linkText  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinksLeadSomewhere checks that every relative link of the documentation names a file, and a heading in it.
func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range documentation(t) {
		for _, m := range pageLink.FindAllStringSubmatch(readText(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			path, heading, _ := strings.Cut(m[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", page, m[1])
			} else if heading != "" && strings.HasSuffix(target, ".md") && !headings(readText(t, target))[heading] {
				t.Errorf("%s: %s has no heading for the link to #%s", page, target, heading)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links, want at least 100", links)
	}
}

// documentation returns the paths of all pages for people.
func documentation(t *testing.T) []string {
	pages := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "charts/evenkeel/README.md", "examples/README.md"}
	for _, dir := range []string{"docs", "deploy"} {
		must.Succeed(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".md") {
				pages = append(pages, path)
			}
			return err
		}))
	}
	return pages
}

// headings returns the fragments of the headings of a page, as GitHub makes them, and its ids.
func headings(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range pageTitle.FindAllStringSubmatch(page, -1) {
		title := strings.ToLower(strings.TrimSpace(linkText.ReplaceAllString(m[1], "$1")))
		found[strings.ReplaceAll(notInSlug.ReplaceAllString(title, ""), " ", "-")] = true
	}
	for _, m := range pageID.FindAllStringSubmatch(page, -1) {
		found[m[1]] = true
	}
	return found
}
