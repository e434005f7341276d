package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// numberedAnswers are the questions whose answer the table gives in numbers, which programs search for.
var numberedAnswers = map[string]bool{"What would happen?": true, "What happened?": true, "What happens now?": true}

// Lines that a shortened table keeps of an answer, of what stays undone, and of what a person does next.
const (
	maxAnswerLines = 1
	maxUndoneLines = 3
	maxNextLines   = 2
)

// maxAnswerColumns is the largest width of an answer in words. The answer in numbers is one line.
const maxAnswerColumns = 100

// laterAnswers are the questions that a shortened table leaves out before it leaves out the zones.
var laterAnswers = map[string]bool{"How sure is it?": true, "How long?": true}

// writeAnswers writes the first screen. numbers is the answer to what happens.
func (t *table) writeAnswers(first answers.First, style layout.Style, numbers string) {
	if first.Shows != "" {
		t.addVerdict(yellow, escape(first.Shows)+".")
	}
	head := first.Mark + " " + plainText(first.Headline)
	if len(first.Forbids) > 0 {
		head = first.Mark + " " + strings.ToUpper(escape(strings.Join(first.Forbids, ", "))) + ". " + plainText(first.Headline)
	}
	t.addVerdict(style, head)
	const next = "What do I do next?"
	columns := len(next)
	for _, a := range first.Answers {
		columns = max(columns, len(a.Question))
	}
	answer := func(question, text string, r rank, most int) {
		limit := maxAnswerColumns
		if most == maxVerdictLines {
			limit = 0
		}
		label := "  " + question + strings.Repeat(" ", columns+2-len(question))
		t.page.AddText(layout.Paragraph{Label: label, Text: text, Columns: limit, Most: most, Rank: r.of(t.plan)})
	}
	for _, a := range first.Answers {
		text, r, most := plainText(a.Statement), verdictRank, maxAnswerLines
		switch {
		case numberedAnswers[a.Question]:
			text, most = numbers, maxVerdictLines
		case strings.Contains(numbers, nothingJudged):
			// the numbers name every cause
		case len(a.Detail) > 0:
			text += " " + plainText(a.Detail)
		}
		if a.Section == "undone" {
			most = maxUndoneLines
		}
		if laterAnswers[a.Question] {
			r = harmRank
		}
		answer(a.Question, text, r, most)
	}
	answer(next, plainText(first.Next.Words), verdictRank, maxNextLines)
	for _, c := range first.Next.Commands {
		t.page.AddText(layout.Paragraph{Label: strings.Repeat(" ", columns+4), Text: "  " + escape(c), Unbroken: true, Rank: verdictRank.of(t.plan)})
	}
	if len(first.Next.Note) > 0 {
		answer("", plainText(first.Next.Note), otherWarningRank, maxAnswerLines)
	}
}

// plainText writes a text for a terminal, with commands in backticks.
func plainText(t answers.Text) string {
	var b strings.Builder
	for _, p := range t {
		if p.Kind == answers.Code {
			b.WriteString("`" + escape(p.Text) + "`")
			continue
		}
		b.WriteString(escape(p.Text))
	}
	return b.String()
}
