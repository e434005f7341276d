// Package reload watches the content of files. When the content changes, it loads the files
// and passes on the result.
//
// A watcher loads changed files after two polls have seen the same content, and only if the
// content does not change during the load. The watcher therefore never uses a half-written file,
// or a mounted volume while the kubelet replaces it. A failed load leaves the last value in
// effect. The watcher polls because network file systems and replaced links lose notifications.
package reload

import (
	"context"
	"crypto/sha256"
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

// maxBytes limits the size of a watched file. Loaders accept only smaller files.
const maxBytes = 4 << 20

// Watcher watches the files from which Load reads one value.
type Watcher[T any] struct {
	// Load reads and checks the files. It returns the names of the files that it read or tried
	// to read, even if it also returns an error.
	Load     func() (T, []string, error)
	OnAccept func(T)     // receives the value of a successful load
	OnRefuse func(error) // receives the error of a failed load, once for each content
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
		// The files may change while Load reads them. LoadFirst therefore loads again until
		// they do not change during a load.
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
			w.Poll()
		}
	}
}

// Poll polls the files once.
func (w *Watcher[T]) Poll() {
	now := fingerprint(w.files)
	if now == w.judged || now != w.candidate {
		w.candidate = now
		return
	}
	v, files, err := w.Load()
	if err != nil { // Load may have failed before it named all files
		files = appendMissing(w.files, files)
	}
	if !slices.Equal(files, w.files) {
		w.files, w.candidate = files, fingerprint(files) // the next poll loads the new set of files
		return
	}
	if fingerprint(files) != now {
		return
	}
	w.judged = now
	w.mu.Lock()
	w.problem, w.since = err, w.Clock.Now()
	w.mu.Unlock()
	if err != nil {
		w.OnRefuse(err)
		return
	}
	w.OnAccept(v)
}

// appendMissing returns list followed by the elements of more that list lacks.
func appendMissing(list, more []string) []string {
	out := slices.Clone(list)
	for _, f := range more {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// Problem returns the error of the newest content and the time of its load. The error is nil if
// the newest content is in effect.
func (w *Watcher[T]) Problem() (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.problem
}

// fingerprint returns a hash of the names and contents of the files. The content of an unreadable
// file is the reason why it cannot be read.
func fingerprint(files []string) string {
	all := sha256.New()
	for _, f := range files {
		data, err := ReadFile(f, maxBytes)
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		fmt.Fprintf(all, "%s\x00%v\x00%x\x00", f, err, sha256.Sum256(data))
	}
	return string(all.Sum(nil))
}

// ReadFile returns the content of a file of at most maxBytes. It opens only regular files,
// because reading a pipe would block or take its data.
func ReadFile(file string, maxBytes int64) ([]byte, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && int64(len(data)) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", file, maxBytes)
	}
	return data, err
}
