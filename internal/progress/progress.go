// Package progress tells a person at a terminal what a command waits for.
//
// It shows one line, which it rewrites every second, once the command has been silent for two seconds, and removes the
// line before anything else is written. It never decides what a command does or how long it waits.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

const (
	delay          = 2 * time.Second // how long a command is silent before the line appears
	redrawInterval = time.Second
)

// Line is the line of one terminal. All methods are safe for concurrent use, and do nothing on nil.
type Line struct {
	out   io.Writer
	width int
	clock clock.WithTicker

	mu    sync.Mutex
	off   bool
	text  string // what the command does now; empty: it is not slow
	begun time.Time
	since time.Time // of text
	shown int       // columns of the line on the terminal
	done  chan struct{}
}

// New returns the line of a terminal with a number of columns, or nil without columns: out is then no terminal.
func New(out io.Writer, columns int, c clock.WithTicker) *Line {
	if columns == 0 {
		return nil
	}
	return &Line{out: out, width: columns, clock: c}
}

// Disable removes the line for good, for commands whose log says the same.
func (l *Line) Disable() {
	if l == nil {
		return
	}
	l.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
}

// Start says what the command does from now on. The text is escaped.
func (l *Line) Start(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return
	}
	l.text, l.since = terminal.Escape(fmt.Sprintf(format, args...)), l.clock.Now()
	if l.done != nil {
		l.draw()
		return
	}
	l.begun, l.done = l.since, make(chan struct{})
	go l.run(l.done, l.clock.NewTicker(redrawInterval))
}

// Stop removes the line, until the next Start.
func (l *Line) Stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.text = ""
	if l.done != nil {
		close(l.done)
		l.done = nil
	}
}

// run redraws the line every second.
func (l *Line) run(done chan struct{}, every clock.Ticker) {
	defer every.Stop()
	for {
		select {
		case <-done:
			return
		case <-every.C():
			l.mu.Lock()
			if l.done == done {
				l.draw()
			}
			l.mu.Unlock()
		}
	}
}

// draw writes the line if the command has been slow for long enough.
func (l *Line) draw() {
	now := l.clock.Now()
	if l.text == "" || now.Sub(l.begun) < delay {
		return
	}
	took := ""
	if s := now.Sub(l.since).Truncate(time.Second); s > 0 {
		took = fmt.Sprintf(" (%s)", s)
	}
	const lastColumn = 1 // a character there could make the terminal begin a new line
	text := layout.Cut(l.text, l.width-lastColumn-len(took)) + took
	l.write("\r" + text + strings.Repeat(" ", max(0, l.shown-layout.Width(text))))
	l.shown = layout.Width(text)
}

// erase removes the line from the terminal.
func (l *Line) erase() {
	if l.shown > 0 {
		l.write("\r" + strings.Repeat(" ", l.shown) + "\r")
		l.shown = 0
	}
}

// write writes to the terminal. A terminal that is gone is not worth an error of the command.
func (l *Line) write(text string) { _, _ = io.WriteString(l.out, text) }

// Writer returns a writer to out that removes the line before each message. The line returns within a second. On nil,
// it returns out.
func (l *Line) Writer(out io.Writer) io.Writer {
	if l == nil {
		return out
	}
	return writer{l, out}
}

type writer struct {
	line *Line
	io.Writer
}

// Write implements io.Writer.
func (w writer) Write(message []byte) (int, error) {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.erase()
	return w.Writer.Write(message)
}
