package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/evenkeel-project/evenkeel/report/layout"
)

// maxMarkdown is the largest size of the Markdown form in bytes. Code hosts cut comments at 65,536 characters.
const maxMarkdown = 60_000

// writeMarkdown writes a page as Markdown for pull requests and chat. It says how many lines and rows have no room.
func writeMarkdown(w io.Writer, p *layout.Page) error {
	var b strings.Builder
	left := 0
	add := func(text string) bool {
		if b.Len()+len(text) > maxMarkdown {
			left++
			return false
		}
		b.WriteString(text)
		return true
	}
	for _, block := range p.Blocks() {
		switch {
		case block.Section != nil:
			addMarkdownTable(block.Section, add)
		case block.Label != "" && strings.TrimSpace(block.Label) == "":
			if command, is := strings.CutPrefix(block.Text, "  "); is {
				add(codeSpan(command) + "\n\n")
			} else {
				add(markdown(block.Text) + "\n\n")
			}
		case block.Label != "":
			add("**" + markdown(strings.TrimSpace(block.Label)) + "** " + markdown(block.Text) + "\n\n")
		case block.Text != "":
			add(markdown(block.Text) + "\n\n")
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nShortened: %d lines and rows are left out; `-o wide` shows everything.\n", left)
	}
	return writeBytes(w, []byte(b.String()))
}

// addMarkdownTable adds a section as a heading and a table.
func addMarkdownTable(s *layout.Section, add func(string) bool) {
	c := s.Grid.Cells()
	rule := strings.Repeat("|---", len(c.Heads)) + "|\n"
	if !add("### " + markdown(s.Title) + "\n\n" + markdownRow(c.Heads) + rule) {
		return
	}
	for _, row := range c.Rows {
		add(markdownRow(row))
	}
	add("\n")
	for _, note := range s.Notes {
		add(markdown(note) + "\n\n")
	}
}

func markdownRow(cells []string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + markdown(c) + " ")
	}
	return b.String() + "|\n"
}

const (
	// markup are characters of ASCII to which Markdown or HTML gives a meaning anywhere. The target of a link in
	// parentheses follows a bracket, so parentheses mean nothing. firstMarkup have a meaning only at the beginning.
	markup, firstMarkup = "\\`*_{}[]<#!|~&@$^", "-+=> "
	// references are characters with which code hosts begin mentions and references, also if the source escapes them.
	references = "@#!~$&^%"
	// noSpace separates words invisibly.
	noSpace = "&#8203;"
)

// separate keeps code hosts from making links of addresses.
var separate = strings.NewReplacer("://", ":"+zeroWidth+"//", "www.", "www."+zeroWidth, "GH-", "GH"+zeroWidth+"-")

const zeroWidth = "\u200b"

// markdown writes text so that nothing in it is markup, a link, an image, a mention or a reference to an issue.
func markdown(s string) string {
	var b strings.Builder
	runes := []rune(separate.Replace(s))
	for i, r := range runes {
		switch {
		case r == '\u200b':
			b.WriteString(noSpace)
			continue
		case strings.ContainsRune(markup, r), i == 0 && strings.ContainsRune(firstMarkup, r),
			r == ':' && i+1 < len(runes) && unicode.IsLetter(runes[i+1]): // the name of an emoji may follow
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		if strings.ContainsRune(references, r) && i+1 < len(runes) && (runes[i+1] == '"' || runes[i+1] == '_' || unicode.In(runes[i+1], unicode.L, unicode.N)) {
			b.WriteString(noSpace)
		}
	}
	return b.String()
}

// codeSpan writes a command. Code hosts make no links in it.
func codeSpan(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}
