package webtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestFaultsAreFound opens a page with one fault of each kind.
func TestFaultsAreFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faulty.html")
	must.Succeed(t, os.WriteFile(file, []byte(`<!doctype html><html lang="en"><title>Faulty</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-QqrKmbakJzGtladjfdgaNFRFnZWXTkRHzRHwNlCIC9E='; img-src file:">
<main><h1>Faulty</h1><p style="color:#eee;background:#fff">hardly to be read</p><font color="#eee">hardly to be read</font>
<img src="other.png" alt="other"><table><tr><td><pre>`+strings.Repeat("wide ", 200)+`</pre></table></main>
<script>notDefined()</script></html>`), 0o600))
	p := open(t, views[0], "file://"+file)
	if v := evaluate[string](p, `document.title`); v != "Faulty" {
		t.Fatalf("title %q", v)
	}
	found := strings.Join(append(append(append(p.takeFaults(), p.requests...), evaluate[[]string](p, layoutFaults)...), p.accessibilityFaults()...), "\n")
	t.Log(found)
	for _, want := range []string{`exception: .*notDefined is not defined`, `violation of style-src-attr`, `security: .*inline style`, `file://.*/other\.png`,
		`the page is \d+ pixels wide, want 1280`, `pre "wide .* ends at pixel`, `axe: color-contrast \(serious\)`} {
		if strings.HasPrefix(want, "axe") && os.Getenv("EVENKEEL_AXE") == "" {
			continue
		}
		if !regexp.MustCompile(`(?m)` + want).MatchString(found) {
			t.Errorf("the checks do not find %q", want)
		}
	}
}
