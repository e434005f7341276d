package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/credentials"
	"github.com/evenkeel-project/evenkeel/internal/reload"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/web"
)

// watchedFiles reloads changed files while the program runs.
type watchedFiles struct {
	watchers []fileWatcher
	// configChanged delivers a value after each accepted change of the configuration.
	configChanged chan struct{}
}

type fileWatcher struct {
	kind     metrics.FileKind
	run      func(context.Context)
	checkNow func()
	problem  func() (time.Time, error)
}

// start watches the files until the caller calls stop.
func (w *watchedFiles) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, f := range w.watchers {
		running.Go(func() { f.run(ctx) })
	}
	return func() { cancel(); running.Wait() }
}

// rejectedFiles returns a report input for each file whose newest content is invalid.
func (w *watchedFiles) rejectedFiles() []plan.Input {
	var out []plan.Input
	for _, f := range w.watchers {
		if since, err := f.problem(); err != nil {
			age := time.Since(since).Round(time.Second).String()
			out = append(out, plan.Input{Source: string(f.kind), Age: age, Coverage: 1,
				Problems: []string{"the newest content is invalid, so the previous content stays in effect: " + err.Error()}})
		}
	}
	return out
}

// addWatcher watches a group of files. It logs and counts each accepted and each rejected change.
func addWatcher[T any](w *watchedFiles, kind metrics.FileKind, m *metrics.Metrics, log *slog.Logger, load func() (T, []string, error),
	take func(T)) *reload.Watcher[T] {
	files := &reload.Watcher[T]{Load: load, Clock: clock.RealClock{}}
	files.OnAccept = func(v T) {
		m.ReloadSucceeded(kind, time.Now())
		take(v)
	}
	files.OnRefuse = func(err error) {
		log.Error("the changed files are invalid; the previous content stays in effect", "files", kind, "error", err)
		m.ReloadRefused(kind)
	}
	w.watchers = append(w.watchers, fileWatcher{kind, files.Run, files.Poll, files.Problem})
	m.WatchStarted(kind, time.Now())
	return files
}

// loadAndWatchConfig loads the configuration, and watches the file if it is a regular file. After each change it
// calls atOnce immediately, also in a process that does not lead. It also sends a function on the channel that
// applies the change before the next pass. The channel keeps only the newest function.
func (w *watchedFiles) loadAndWatchConfig(path string, m *metrics.Metrics, log *slog.Logger, atOnce func(*config.Config),
	apply func(*controller.Controller, *config.Config)) (*config.Config, <-chan func(*controller.Controller), error) {
	if info, err := os.Stat(path); path == "" || err == nil && !info.Mode().IsRegular() {
		conf, err := installed.Load(path)
		return conf, nil, err
	}
	changes := make(chan func(*controller.Controller), 1)
	w.configChanged = make(chan struct{}, 1)
	load := func() (*config.Config, []string, error) {
		conf, err := config.LoadFile(path)
		files := []string{path}
		if conf != nil {
			files = append(files, conf.ReferencedFiles()...)
		}
		return conf, files, err
	}
	conf, err := addWatcher(w, metrics.ConfigFiles, m, log, load, func(conf *config.Config) {
		m.SetConfigHash(conf.Hash())
		atOnce(conf)
		select {
		case <-changes: // replaces a configuration that no pass has applied yet
		default:
		}
		changes <- func(c *controller.Controller) { apply(c, conf) }
		log.Info("the configuration changed and applies from the next pass on", "hash", conf.Hash(), "configHash", conf.PlanHash(), "dryRun", conf.DryRun)
		select {
		case w.configChanged <- struct{}{}:
		default:
		}
	}).LoadFirst()
	return conf, changes, err
}

// newReloadingClient returns a client that follows changed credentials. It calls renewed after each change.
func (w *watchedFiles) newReloadingClient(g *globalFlags, m *metrics.Metrics, log *slog.Logger,
	renewed func()) (kubernetes.Interface, *rest.Config, error) {
	source := credentials.Source{Load: g.restConfig, Kubeconfigs: g.KubeconfigFiles()}
	var current *credentials.Transport
	load := func() (*credentials.Credentials, []string, error) {
		set, files, err := source.Read()
		if err == nil && current != nil {
			err = current.Check(set)
		}
		return set, files, err
	}
	first, err := addWatcher(w, metrics.CredentialFiles, m, log, load, func(s *credentials.Credentials) {
		current.Replace(s)
		renewed()
		log.Info("credentials changed; new requests use them")
	}).LoadFirst()
	if err != nil {
		return nil, nil, err
	}
	current = credentials.NewTransport(first)
	return connection.Connect(current.Config())
}

// loadAndWatchCertificate returns the certificate with which the program serves HTTPS, and watches its files. Without a
// certificate, it returns nil.
func (w *watchedFiles) loadAndWatchCertificate(certFile, keyFile string, m *metrics.Metrics, log *slog.Logger) (*web.Certificate, error) {
	if certFile == "" {
		return nil, nil
	}
	served := &web.Certificate{}
	load := func() (*tls.Certificate, []string, error) {
		pair, err := web.LoadCertificate(certFile, keyFile)
		return pair, []string{certFile, keyFile}, err
	}
	use := func(pair *tls.Certificate) {
		served.Store(pair)
		m.RecordCertificate(pair.Leaf.NotBefore, pair.Leaf.NotAfter)
		if warning := web.CertificateWarning(pair, time.Now()); warning != "" {
			log.Warn(warning, "file", certFile)
		}
	}
	first, err := addWatcher(w, metrics.CertificateFiles, m, log, load, func(pair *tls.Certificate) {
		use(pair)
		log.Info("the certificate changed; new connections use it", "file", certFile, "notAfter", pair.Leaf.NotAfter)
	}).LoadFirst()
	if err != nil {
		return nil, err
	}
	use(first)
	return served, nil
}
