// Package answers words the first screen of a report: is it good, what would happen, why, what gets worse, what stays
// undone, how sure is it, how long does it take, and what to do next. All formats show the same answers in this order.
//
// It decides the words and nothing else.
package answers

// First is the first screen.
type First struct {
	// Shows says which part of the plan the report shows; empty if it shows the whole plan. The answers are about the
	// whole plan.
	Shows string
	// Mark and State say whether all goals are met, such as "●" and "All goals are met".
	Mark, State string
	// Forbids are the strongest facts, which forbid execution, such as "Paused".
	Forbids []string
	// Headline is the worst fact, and what the plan does about it.
	Headline Text
	Answers  []Answer
	Next     Next
}

// Answer is one question with its answer.
type Answer struct {
	Question  string // such as "Why?"
	Statement Text   // one sentence
	Detail    Text   // at most two sentences; may be empty
	// Section is the section of the page with more, such as "moves", and Link the words that lead there.
	Section, Link string
}

// Next is what a person does next.
type Next struct {
	Words    Text
	Commands []string
	Note     Text
}

// Text is a text with names of objects in it.
type Text []Part

// Part is a part of a text. Names of objects are hostile: each format escapes them, and may cut long ones.
type Part struct {
	Kind Kind
	Text string
}

// Kind says what a part is.
type Kind int

const (
	Plain  Kind = iota
	Name        // of an object of the cluster
	Code        // a command, a key or a reason code
	Strong      // an emphasized word
)
