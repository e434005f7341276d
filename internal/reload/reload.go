// Package reload watches the content of files. When the content changes, it loads the files
// and passes on the result.
//
// It decides when to load changed files: two polls must see the same content, and the content
// must not change during the load. So it never uses a half-written file or a mounted volume
// during its swap. It never decides whether content is valid. A rejected load leaves
// everything unchanged. It polls because file notifications get lost on network file systems
// and when the links of a volume are swapped.
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

// PollInterval is the time between polls. A change takes effect within two intervals.
const PollInterval = 2 * time.Second

// maxBytes is how much of a file fingerprint reads. Loaders accept less than this.
const maxBytes = 4 << 20

// Watcher watches the files from which Load makes one value.
type Watcher[T any] struct {
	// Load reads and checks the files. It returns the names of the files that it read or tried
	// to read, also with an error.
	Load func() (T, []string, error)
	// OnAccept receives the value of a successful load. OnRefuse receives the error of a
	// failed load, once for each content. Run calls both.
	OnAccept func(T)
	OnRefuse func(error)
	Clock    clock.WithTicker

	files     []string
	judged    string // fingerprint of the last content that was loaded or rejected
	candidate string // fingerprint at the last poll

	mu      sync.Mutex
	problem error
	since   time.Time
}

// LoadFirst loads the value at program start. It returns the error of Load.
func (w *Watcher[T]) LoadFirst() (T, error) {
	for tries := 0; ; tries++ {
		before := fingerprint(w.files)
		v, files, err := w.Load()
		if err != nil {
			return v, err
		}
		// The first load shows which files there are, so LoadFirst repeats it until they stay
		// the same.
		if same := slices.Equal(files, w.files); same && fingerprint(files) == before || tries == 3 {
			w.files, w.judged = files, before
			return v, nil
		}
		w.files = files
	}
}

// Run polls the files until ctx ends.
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

// Check polls the files once.
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
	if err != nil { // Load may have failed before it named all files, and a change to an earlier file can fix that
		files = union(w.files, files)
	}
	if !slices.Equal(files, w.files) {
		w.files, w.candidate = files, fingerprint(files) // the next poll loads the new set of files
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

// union returns a and the elements of b that a lacks, in order.
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

// Problem returns why the newest content was rejected, and since when. The error is nil if the
// newest content is in effect.
func (w *Watcher[T]) Problem() (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.problem
}

// fingerprint returns a hash of the names and contents of the files.
func fingerprint(files []string) string {
	all := sha256.New()
	for _, f := range files {
		fmt.Fprintf(all, "%s\x00%s\x00", f, contentHash(f))
	}
	return hex.EncodeToString(all.Sum(nil))
}

// contentHash returns a hash of a file's content, or the reason why it cannot be read. It
// opens only regular files, because reading a pipe blocks or takes its data.
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
