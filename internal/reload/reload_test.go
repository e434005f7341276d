package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/reload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testWatcher watches a file. A line "+other" names another file, and content with "bad" is
// rejected.
type testWatcher struct {
	*reload.Watcher[string]
	t             *testing.T
	dir           string
	loads         int
	taken, denied []string
	onLoad        func()
}

func newTestWatcher(t *testing.T) *testWatcher {
	b := &testWatcher{t: t, dir: t.TempDir()}
	b.Watcher = &reload.Watcher[string]{
		Load:     b.load,
		OnAccept: func(s string) { b.taken = append(b.taken, s) },
		OnRefuse: func(err error) { b.denied = append(b.denied, err.Error()) },
		Clock:    clocktesting.NewFakeClock(time.Unix(1000, 0)),
	}
	return b
}

func (b *testWatcher) path(name string) string { return filepath.Join(b.dir, name) }

func (b *testWatcher) load() (string, []string, error) {
	b.loads++
	files := []string{b.path("main")}
	text, err := os.ReadFile(files[0])
	all := string(text)
	if err == nil {
		for line := range strings.Lines(all) {
			if other, ok := strings.CutPrefix(strings.TrimSpace(line), "+"); ok {
				files = append(files, b.path(other))
				more, e := os.ReadFile(b.path(other))
				all, err = all+string(more), errors.Join(err, e)
			}
		}
	}
	if strings.Contains(all, "bad") {
		err = errors.New("bad content")
	}
	if b.onLoad != nil {
		b.onLoad()
	}
	return all, files, err
}

func (b *testWatcher) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *testWatcher) loadFirst() {
	b.t.Helper()
	if _, err := b.LoadFirst(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *testWatcher) check(n int) {
	for range n {
		b.Poll()
	}
}

func (b *testWatcher) want(taken, denied []string) {
	b.t.Helper()
	if !slices.Equal(b.taken, taken) || !slices.Equal(b.denied, denied) {
		b.t.Errorf("got taken %q and refused %q, want %q and %q", b.taken, b.denied, taken, denied)
	}
}

func TestAChangeIsTakenOnceItHoldsStill(t *testing.T) {
	b := newTestWatcher(t)
	b.write("main", "one")
	b.loadFirst()
	b.check(3)
	b.want(nil, nil)
	b.write("main", "tw")
	b.check(1)
	b.write("main", "two") // the writer had not finished at the last poll
	b.check(1)
	b.want(nil, nil)
	b.check(1)
	b.want([]string{"two"}, nil)
	b.check(3)
	b.want([]string{"two"}, nil)
}

// The watcher rejects the same bad content only once, also for a missing file and a directory.
func TestABadFileIsRefusedOnce(t *testing.T) {
	b := newTestWatcher(t)
	b.write("main", "one")
	b.loadFirst()
	b.write("main", "bad")
	b.check(5)
	b.want(nil, []string{"bad content"})
	if since, err := b.Problem(); err == nil || !since.Equal(time.Unix(1000, 0)) {
		t.Errorf("got problem %v since %s", err, since)
	}
	must.Succeed(t, os.Remove(b.path("main")))
	b.check(5)
	if len(b.denied) != 2 || !strings.Contains(b.denied[1], "no such file") {
		t.Errorf("got rejections %q, want a missing file as the second", b.denied)
	}
	must.Succeed(t, os.Mkdir(b.path("main"), 0o700))
	b.check(5)
	if len(b.denied) != 3 {
		t.Errorf("got rejections %q, want a directory as the third", b.denied)
	}
	must.Succeed(t, os.Remove(b.path("main")))
	b.write("main", "one")
	b.check(2)
	if _, err := b.Problem(); err != nil || len(b.denied) != 3 {
		t.Errorf("after the old content was restored: got problem %v, refused %q", err, b.denied)
	}
}

// The watcher watches files that new content names.
func TestNamedFilesAreWatchedToo(t *testing.T) {
	b := newTestWatcher(t)
	b.write("main", "one\n+a\n")
	b.write("a", "A")
	b.write("b", "B")
	b.loadFirst()
	b.write("a", "A2")
	b.check(2)
	b.want([]string{"one\n+a\nA2"}, nil)
	b.write("main", "+b\n")
	b.check(3)
	b.write("b", "B2")
	b.check(2)
	b.want([]string{"one\n+a\nA2", "+b\nB", "+b\nB2"}, nil)
	loads := b.loads
	b.write("a", "A3") // no longer named
	b.check(3)
	if b.loads != loads {
		t.Error("the watcher still watches a file that is no longer named")
	}
}

// If Load fails early, it names fewer files than before. A change to the other files can fix
// the error, so the watcher keeps watching them.
func TestAFileThatWasNotReachedIsStillWatched(t *testing.T) {
	b := newTestWatcher(t)
	b.write("main", "+a\n")
	b.write("a", "A")
	b.loadFirst()
	load := b.Load
	b.Load = func() (string, []string, error) {
		if _, err := os.Stat(b.path("a")); err != nil {
			return "", []string{b.path("main")}, err
		}
		return load()
	}
	must.Succeed(t, os.Remove(b.path("a")))
	b.check(4)
	if len(b.denied) != 1 {
		t.Errorf("got rejections %q, want one for the missing file", b.denied)
	}
	b.write("a", "A2")
	b.check(4)
	if !slices.Equal(b.taken, []string{"+a\nA2"}) {
		t.Errorf("taken %q", b.taken)
	}
}

// The test swaps a volume as the kubelet does for a mounted ConfigMap.
func TestAVolumeIsSwapped(t *testing.T) {
	b := newTestWatcher(t)
	for _, v := range []string{"..1", "..2"} {
		must.Succeed(t, os.Mkdir(b.path(v), 0o700))
		b.write(v+"/main", v)
	}
	link := func(to, name string) {
		t.Helper()
		must.Succeed(t, os.Symlink(to, b.path("tmp")))
		must.Succeed(t, os.Rename(b.path("tmp"), b.path(name)))
	}
	link("..1", "..data")
	link("..data/main", "main")
	b.loadFirst()
	link("..2", "..data")
	b.check(2)
	b.want([]string{"..2"}, nil)
}

// If the content changes during a load, the watcher discards the result and loads again.
func TestWhatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	b := newTestWatcher(t)
	b.write("main", "one")
	b.loadFirst()
	b.write("main", "two")
	b.check(1)
	b.onLoad = func() { b.write("main", "three"); b.onLoad = nil }
	b.check(1)
	b.want(nil, nil)
	b.check(2)
	b.want([]string{"three"}, nil)
}

func TestRunLooksUntilItsContextEnds(t *testing.T) {
	b := newTestWatcher(t)
	fake := b.Clock.(*clocktesting.FakeClock)
	b.write("main", "one")
	b.loadFirst()
	taken := make(chan string)
	b.OnAccept = func(s string) { taken <- s }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Run(ctx) }()
	b.write("main", "two")
	for done := false; !done; {
		select {
		case s := <-taken:
			if done = true; s != "two" {
				t.Errorf("took %q", s)
			}
		case <-time.After(time.Millisecond):
			fake.Step(reload.PollInterval)
		}
	}
	cancel()
	<-ended
}
