package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxHops is the greatest number of steps on the path of one pod in docs/architecture.md.
const maxHops = 25

// TestArchitectureFollowsTheCode checks every link of docs/architecture.md: the file exists, and it
// declares what the link names.
func TestArchitectureFollowsTheCode(t *testing.T) {
	page := readText(t, "docs/architecture.md")
	for _, m := range regexp.MustCompile(`\[([^\]]+)\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(page, -1) {
		path := filepath.Join("docs", m[2])
		source, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if statErr != nil || !info.IsDir() && err != nil {
			t.Errorf("docs/architecture.md: the link to %s leads nowhere", m[2])
			continue
		}
		name, isCode := strings.CutPrefix(m[1], "`")
		name = strings.TrimSuffix(name, "`")
		switch {
		case !isCode:
			continue
		case info.IsDir():
			t.Errorf("docs/architecture.md: the link of %s names a folder, want the file that declares it", name)
			continue
		}
		if !declares(string(source), name) {
			t.Errorf("docs/architecture.md: %s does not declare %s", m[2], name)
		}
	}
	hops := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(page, -1)
	if len(hops) == 0 || len(hops) > maxHops {
		t.Errorf("docs/architecture.md: the path of one pod has %d steps, want 1 to %d", len(hops), maxHops)
	}
}

// declares reports whether a Go file declares a function, a type, a method as Type.Method, or a variable
// as package.Variable.
func declares(source, name string) bool {
	owner, member, found := strings.Cut(name, ".")
	if !found {
		return regexp.MustCompile(`(?m)^(func ` + name + `\(|type ` + name + ` )`).MatchString(source)
	}
	return regexp.MustCompile(`(?m)^func \(\w* ?\*?`+owner+`\) `+member+`\(`).MatchString(source) ||
		regexp.MustCompile(`(?m)^var `+member+`\b`).MatchString(source)
}
