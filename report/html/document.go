package html

import "github.com/evenkeel-project/evenkeel/report/answers"

// document is a report of sentences and tables.
type document struct {
	Headline answers.Text
	Facts    []answers.Text
	Sections []Section
}
