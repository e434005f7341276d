package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/report"
)

func TestMarkdown(t *testing.T) {
	golden.Equal(t, "testdata/three-zones.md", []byte(written(t, report.Plan, report.Markdown, threeZonesPlan())))
	golden.Equal(t, "testdata/run-live.md", []byte(written(t, report.Run, report.Markdown, liveRun())))
	golden.Equal(t, "testdata/explain-node.md", []byte(written(t, report.Explain, report.Markdown, fullExplanation())))
}

// TestMarkdownOfHostileNames checks that no name or message becomes markup, a link, an image, a mention or a reference.
func TestMarkdownOfHostileNames(t *testing.T) {
	p := threeZonesPlan()
	const name = "<img src=x>![a](http://evil) @user #1 `x` | **b** www.evil.example a@b.example :bomb: %\"m\" ~label"
	p.Moves[0].Pod.Name, p.Moves[0].Reason.Message, p.Moves[0].From = name, "\n# heading\n- item "+name, name
	p.Before.Workloads[2].Name, p.After.Workloads[2].Name, p.Goals[0].Subject.Name = name, name, name
	text := written(t, report.Plan, report.Markdown, p)
	for _, bad := range []string{"<", "![", "](", "http://", "@user", "a@b", " #1", "www.evil", "`x", "**b", ":bomb", "%\"", "~l"} {
		if strings.Contains(text, bad) {
			t.Errorf("the report has %q", bad)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "- ") {
			t.Errorf("a message begins a line: %s", line)
		}
	}
}

// TestMarkdownHasRoomInAComment checks that a large report is cut, and says how much it leaves out.
func TestMarkdownHasRoomInAComment(t *testing.T) {
	p := threeZonesPlan()
	for i := range 5000 {
		p.Moves = append(p.Moves, newMove(i+3, fmt.Sprint("web-", i), "n1", "n2"))
	}
	if text := written(t, report.Plan, report.Markdown, p); len(text) > 61_000 || !strings.Contains(text, "Shortened: ") {
		t.Errorf("%d bytes; want at most 60 kB and a line about what is left out", len(text))
	}
}
