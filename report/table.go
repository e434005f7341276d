package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// The room of a Table on a terminal. Wide, and a Table that no terminal shows, have no limits.
const (
	maxLines = 60
	// minWidth is the smallest width for which tables are arranged.
	minWidth = 40
)

// maxSmallCluster is the largest number of nodes for which the short form lists every node.
const maxSmallCluster = 20

// table collects the paragraphs and sections of a report.
type table struct {
	wide bool
	room layout.Options
	page layout.Page
	// plan says to which plan the next sections belong.
	plan planRole
	// warnings is the number of warnings so far.
	warnings int
	// blank puts an empty line above the next paragraph.
	blank bool
	// Without headings, the table is only the rows of the sections with the rank listed.
	noHeaders bool
	listed    rank
	rows      []string
}

// planRole says which of the plans in a report a section belongs to. Of two sections with the same rank, a shortened
// report keeps that of the first plan.
type planRole int

const (
	mainPlan planRole = iota // the plan of automatic strategies, or all that a report has
	secondPlan
	proposedPlan
	planRoles int = iota
)

// rank orders what a shortened report keeps: the smallest first.
type rank int

const (
	verdictRank rank = iota
	warningRank
	runRank // what a run did, apart from its plan
	originRank
	outcomeRank
	moveRank
	inputRank
	strategyRank
	zoneRank
	harmRank // workloads that a zone failure would hit harder
	rejectionRank
	unmetRank
	otherWarningRank // warnings beyond the first ones
	goalRank
	boundRank
	workloadRank
	nodeRank
	pressureRank
	hintRank
	schedulerRank
)

// of returns the rank of a section or paragraph of the plan. The summary and the causes of the plan itself come before
// the sections of proposals.
func (r rank) of(p planRole) int {
	if p == proposedPlan && r != verdictRank {
		r = max(r, unmetRank)
	}
	return int(r)*planRoles + int(p)
}

func newTable(format Format, opts []Options) *table {
	t, o := &table{wide: format == Wide, listed: moveRank}, Options{}
	if len(opts) > 0 {
		o = opts[0]
	}
	t.noHeaders = o.NoHeaders
	t.room.Color = o.Color
	if o.Width > 0 && !t.wide {
		t.room.Width, t.room.Height = max(o.Width, minWidth), maxLines
	}
	return t
}

func (t *table) flush(w io.Writer) error {
	if t.noHeaders {
		return writeRows(w, t.rows)
	}
	return writeBytes(w, []byte(strings.Join(t.page.Lines(t.room), "\n")+"\n"))
}

// Styles of lines.
const (
	green  = layout.Green
	yellow = layout.Yellow
	red    = layout.Red
	bold   = layout.Bold
	plain  = layout.Plain
)

// What a shortened report keeps of paragraphs.
const (
	maxVerdictLines = 4 // lines of a terminal for the first line
	maxTextLines    = 2 // lines of a terminal for another paragraph
	maxWarnings     = 6 // warnings that matter more than the sections
)

// addVerdict adds the first line of a plan.
func (t *table) addVerdict(style layout.Style, text string) { t.addParagraph(verdictRank, style, text) }

// addText adds a warning or another paragraph that readers must not miss. A shortened report keeps the first
// maxWarnings of them.
func (t *table) addText(style layout.Style, text string) {
	if t.warnings++; t.warnings > maxWarnings {
		t.addParagraph(otherWarningRank, style, text)
		return
	}
	t.addParagraph(warningRank, style, text)
}

// addLine adds a paragraph. An empty one is an empty line above the next paragraph.
func (t *table) addLine(format string, args ...any) {
	if format == "" {
		t.blank = true
		return
	}
	t.addParagraph(originRank, plain, fmt.Sprintf(format, args...))
}

func (t *table) addParagraph(r rank, style layout.Style, text string) {
	most := maxTextLines
	if r == verdictRank {
		most = maxVerdictLines
	}
	t.page.AddText(layout.Paragraph{Text: text, Style: style, Most: most, Blank: t.blank, Rank: r.of(t.plan)})
	t.blank = false
}

// addSection adds a section with an importance. It adds nothing if the section has no rows.
func (t *table) addSection(r rank, s layout.Section) {
	s.Rank = r.of(t.plan)
	if t.page.AddSection(s); t.noHeaders && r == t.listed {
		t.rows = append(t.rows, s.Grid.Rows()...)
	}
	t.blank = false
}

// escape makes text from the cluster safe for a terminal.
func escape(s string) string { return terminal.Escape(s) }
