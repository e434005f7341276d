// Package observe keeps an up-to-date view of a live cluster through shared informers, and
// takes snapshots of it.
//
// The package selects the watched kinds and the stored fields of each object. It never writes to the
// cluster and makes no decisions about pods.
package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/retry"
)

// Observer watches one cluster.
type Observer struct {
	client  kubernetes.Interface
	clock   clock.PassiveClock
	factory informers.SharedInformerFactory
	watched []watchedKind
	events  *failedCreates
	version serverVersion

	mu          sync.Mutex
	denials     map[string]denial // the last refused list or watch, by resource
	failures    map[string]error  // the last list failure for another reason, by resource
	podsChanged chan struct{}
	uid         string
	usage       func() *cluster.Usage // see SetUsageSource

	indexing sync.Mutex // for index
	index    cluster.Indexer
}

// New returns an observer, which starts watching with Start.
func New(client kubernetes.Interface, c clock.PassiveClock) *Observer {
	o := &Observer{client: client, clock: c, denials: map[string]denial{}, failures: map[string]error{}, podsChanged: make(chan struct{}),
		index: cluster.Indexer{IsMarked: annotation.IsMarked}}
	o.events, o.version.client, o.version.clock = &failedCreates{client: client, clock: c}, client, c
	shared := newInternCache()
	keep, reading := shared.stripAndIntern, withPodDecoder(client, newPodDecoder(shared))
	o.factory = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(keep))
	for _, k := range kinds {
		w := watchedKind{kind: k, staleness: &staleness{clock: c}}
		w.informer = k.informer(o.factory, reading, w.staleness, keep)
		// Without this handler, the informer would retry a refused request forever.
		_ = w.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) { o.recordFailure(k, err) })
		o.watched = append(o.watched, w)
	}
	_, _ = o.pods().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.notifyPodChange() },
		UpdateFunc: func(any, any) { o.notifyPodChange() },
		DeleteFunc: func(any) { o.notifyPodChange() },
	})
	return o
}

// Start starts watching until ctx ends.
func (o *Observer) Start(ctx context.Context) { o.factory.Start(ctx.Done()) }

// shutdownTimeout limits Shutdown. After a 429 response, an informer sleeps for up to 30 seconds
// and cannot be interrupted.
const shutdownTimeout = time.Second

// syncPollInterval is the interval at which WaitForSync checks whether all kinds are listed.
const syncPollInterval = 20 * time.Millisecond

// Shutdown waits until all watches have ended, but at most one second. The context that was passed to
// Start must end first.
func (o *Observer) Shutdown() {
	ended := make(chan struct{})
	go func() { defer close(ended); o.factory.Shutdown() }()
	select {
	case <-ended:
	case <-time.After(shutdownTimeout):
	}
}

// WaitForSync waits until all kinds are listed. If a permission is missing, it returns an error at
// once. If the API server is unreachable, it returns an error when ctx ends.
func (o *Observer) WaitForSync(ctx context.Context) error {
	if err := o.readServerIdentity(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(syncPollInterval)
	defer tick.Stop()
	for {
		if err := o.permissionError(requiredKinds...); err != nil {
			return err
		}
		if o.Synced() {
			return nil
		}
		select {
		case <-ctx.Done():
			return o.notSyncedError()
		case <-tick.C: // informers have no channel that reports a denial
		}
	}
}

// Synced reports whether every kind has been listed, except optional kinds that this account may not read.
func (o *Observer) Synced() bool {
	return !slices.ContainsFunc(o.watched, func(w watchedKind) bool { return !w.synced() && !(w.optional && o.permissionError(w.kind) != nil) })
}

// synced reports whether the informer has received a list from an API server. client-go decodes other
// responses as an empty list without a resource version.
func (w watchedKind) synced() bool {
	return w.informer.HasSynced() && w.informer.LastSyncResourceVersion() != ""
}

// readServerIdentity reads the server version and the UID of kube-system, which identifies the
// cluster.
func (o *Observer) readServerIdentity(ctx context.Context) error {
	err := retry.Read(ctx, func() error { return o.version.read(ctx) })
	if err != nil {
		return err
	}
	var ns *corev1.Namespace
	err = retry.Read(ctx, func() (err error) {
		ns, err = o.client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return plainAccessError("get", "namespaces", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.uid = string(ns.UID)
	return nil
}

// denial records a missing permission and the time of the refused request.
type denial struct {
	err error
	at  time.Time
}

// denialLifetime is the time after which a denial is obsolete. The informer retries at least twice a
// minute, so a permission that is still missing causes a new denial before.
const denialLifetime = 2 * time.Minute

func (o *Observer) recordFailure(k kind, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		o.denials[k.resource] = denial{plainAccessError("list and watch", k.resource, err), o.clock.Now()}
		return
	}
	o.failures[k.resource] = PlainError(err)
}

// CredentialsRenewed discards the denials of the previous credentials.
func (o *Observer) CredentialsRenewed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.denials)
}

// permissionError returns the error of the last refused request for one of the kinds, unless it is obsolete.
func (o *Observer) permissionError(of ...kind) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range of {
		if r, ok := o.denials[k.resource]; ok && o.clock.Since(r.at) < denialLifetime {
			return r.err
		}
	}
	return nil
}

func (o *Observer) notSyncedError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	missing := ""
	for _, w := range o.watched {
		_, denied := o.denials[w.resource]
		switch err := o.failures[w.resource]; {
		case w.synced(), w.optional && denied:
		case w.informer.HasSynced():
			return fmt.Errorf("listing %s: the answer is not a list of this kind"+proxyHint, w.resource)
		case err != nil:
			return fmt.Errorf("listing %s: %w", w.resource, err)
		case missing == "":
			missing = w.resource
		}
	}
	return fmt.Errorf("listing %s: no usable answer in time; is the API server overloaded, or the network interrupted?", missing)
}

// plainAccessError describes a failed request. If a permission is missing, the error names it.
func plainAccessError(verb, resource string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		said := strings.TrimPrefix(PlainError(err).Error(), "the answer is 403: ")
		if said == string(metav1.StatusReasonForbidden) {
			said = "the server gives no reason"
		}
		return &translatedError{fmt.Sprintf("permission to %s %s is missing; grant it to this account: %s", verb, resource, said), err}
	case apierrors.IsUnauthorized(err):
		return &translatedError{fmt.Sprintf("the API server rejects the credentials (401 to %s %s); is the token or certificate still valid?", verb, resource), err}
	}
	return fmt.Errorf("asking for %s: %w", resource, PlainError(err))
}

func (o *Observer) notifyPodChange() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.podsChanged)
	o.podsChanged = make(chan struct{})
}

// Changed returns a channel that is closed when any pod changes next. To miss no change, call Changed
// before Pods.
func (o *Observer) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.podsChanged
}

func (o *Observer) pods() cache.SharedIndexInformer { return o.factory.Core().V1().Pods().Informer() }
