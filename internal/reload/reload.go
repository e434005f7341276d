// Package reload watches files by their content and hands over what was made of
// them when they change.
//
// It decides when a change is looked at: when the files held still for two looks
// and while they were read, so that neither a half-written file nor the swap of a
// mounted volume in the middle of a reading counts. It never decides whether
// content is good, and what it hands over is always a whole: what was refused
// leaves everything as it was. It looks instead of asking the system for
// notifications, which get lost when the links of a volume are swapped and on
// network file systems.
package reload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// PollInterval is how often files are looked at; a change is in effect within twice
// that.
const PollInterval = 2 * time.Second

// maxBytes bounds what is read of one file to compare it. Loaders have bounds of
// their own, below this.
const maxBytes = 4 << 20

// Watcher watches the files behind one value.
type Watcher[T any] struct {
	// Load reads and checks everything anew. It names the files that it read or
	// wanted to read, also beside an error.
	Load func() (T, []string, error)
	// OnAccept is given what Load accepted, Refuse the error once for each content.
	// Both are called from Run.
	OnAccept func(T)
	OnRefuse func(error)
	Clock    clock.WithTicker

	files     []string
	judged    string // the content that was judged last
	candidate string // the content of the last look

	mu      sync.Mutex
	problem error
	since   time.Time
}

// LoadFirst loads for the first time. An error is the loader's.
func (w *Watcher[T]) LoadFirst() (T, error) {
	for tries := 0; ; tries++ {
		before := fingerprint(w.files)
		v, files, err := w.Load()
		if err != nil {
			return v, err
		}
		// Still the first time round: which files there are is known only now.
		if same := slices.Equal(files, w.files); same && fingerprint(files) == before || tries == 3 {
			w.files, w.judged = files, before
			return v, nil
		}
		w.files = files
	}
}

// Run looks at the files until ctx ends.
func (w *Watcher[T]) Run(ctx context.Context) {
	tick := w.Clock.NewTicker(PollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
			w.Check()
		}
	}
}

// Check is one look at the files.
func (w *Watcher[T]) Check() {
	now := fingerprint(w.files)
	if now == w.judged {
		w.candidate = now
		return
	}
	if now != w.candidate {
		w.candidate = now
		return
	}
	v, files, err := w.Load()
	if err != nil { // it may not have come as far as what was named until now, which may mend it
		files = union(w.files, files)
	}
	if !slices.Equal(files, w.files) {
		w.files, w.candidate = files, fingerprint(files) // judged at the next look, with all its files
		return
	}
	if fingerprint(files) != now {
		return
	}
	w.judged = now
	w.setProblem(err)
	if err != nil {
		w.OnRefuse(err)
		return
	}
	w.OnAccept(v)
}

// union keeps the order of a.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, f := range b {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

func (w *Watcher[T]) setProblem(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem, w.since = err, w.Clock.Now()
}

// Problem is why the newest content was refused, and when that was found; nil
// when it is in effect.
func (w *Watcher[T]) Problem() (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.problem
}

// fingerprint tells contents apart.
func fingerprint(files []string) string {
	all := sha256.New()
	for _, f := range files {
		fmt.Fprintf(all, "%s\x00%s\x00", f, contentHash(f))
	}
	return hex.EncodeToString(all.Sum(nil))
}

// contentHash is a hash of a file's content, or why it has none. What is no regular
// file is not opened: a pipe would give its content to nobody else, or block.
func contentHash(file string) string {
	if info, err := os.Stat(file); err != nil {
		return readFailure(err)
	} else if !info.Mode().IsRegular() {
		return "no regular file"
	}
	f, err := os.Open(file)
	if err != nil {
		return readFailure(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxBytes)); err != nil {
		return readFailure(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func readFailure(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return "unreadable: " + err.Error()
}
