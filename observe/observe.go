// Package observe keeps an up-to-date view of a live cluster through shared
// informers and makes snapshots of it.
//
// It decides what is watched and what of each object is kept. It never writes
// to the cluster and never judges what it sees.
package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/retry"
)

// Observer watches one cluster.
type Observer struct {
	client  kubernetes.Interface
	clock   clock.PassiveClock
	factory informers.SharedInformerFactory
	watched []watchedKind

	maxStaleness atomic.Int64 // see BoundStaleness

	mu          sync.Mutex
	refusals    map[string]refusal // by kind, the last one while listing or watching
	failures    map[string]error   // by kind, the last other failure while listing
	podsChanged chan struct{}
	version     string
	uid         string
	usage       func() *cluster.Usage // see Measured
}

// New makes an observer; nothing is watched before Start.
func New(client kubernetes.Interface, c clock.PassiveClock) *Observer {
	o := &Observer{client: client, clock: c, refusals: map[string]refusal{}, failures: map[string]error{}, podsChanged: make(chan struct{})}
	keep := newInternCache().stripAndIntern
	o.factory = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(keep))
	for _, k := range kinds {
		w := watchedKind{kind: k, staleness: &staleness{clock: c}}
		w.informer = k.informer(o.factory, client, w.staleness, keep)
		// Set before Start; a refusal would otherwise only be retried for ever.
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

// Start begins to watch, until ctx ends.
func (o *Observer) Start(ctx context.Context) { o.factory.Start(ctx.Done()) }

// shutdownTimeout bounds Shutdown: after a 429 the informer sleeps, up to half a minute,
// and nothing wakes it.
const shutdownTimeout = time.Second

// Shutdown waits until every watch has ended, but not for ever; end Start's
// context first.
func (o *Observer) Shutdown() {
	ended := make(chan struct{})
	go func() { defer close(ended); o.factory.Shutdown() }()
	select {
	case <-ended:
	case <-time.After(shutdownTimeout):
	}
}

// WaitForSync returns once every kind is listed, or with an error that says
// what stands in the way: a missing permission at once, an unreachable server
// when ctx ends.
func (o *Observer) WaitForSync(ctx context.Context) error {
	if err := o.readServerIdentity(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := o.permissionError(); err != nil {
			return err
		}
		if o.Synced() {
			return nil
		}
		select {
		case <-ctx.Done():
			return o.notSyncedError()
		case <-tick.C: // informers have no channel to wait for a refusal on
		}
	}
}

// Synced reports whether every kind has been listed.
func (o *Observer) Synced() bool {
	for _, w := range o.watched {
		if !w.synced() {
			return false
		}
	}
	return true
}

// synced reports whether a list was taken in. One without a version is not from
// an API server: the client reads any other kind of object as an empty list.
func (w watchedKind) synced() bool {
	return w.informer.HasSynced() && w.informer.LastSyncResourceVersion() != ""
}

// readServerIdentity asks the server who it is: its version and the cluster's identity.
func (o *Observer) readServerIdentity(ctx context.Context) error {
	var body *version.Info
	err := retry.Read(ctx, func() (err error) { body, err = o.client.Discovery().ServerVersionWithContext(ctx); return err })
	if err != nil {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			return plainAccessError("get", "/version", err)
		}
		return fmt.Errorf("asking for its version: %w", plainError(err))
	}
	if body.Major == "" || body.Minor == "" {
		return errors.New("asking for its version: the answer has no major or no minor" + addressHint)
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
	o.version, o.uid = body.Major+"."+body.Minor, string(ns.UID)
	return nil
}

// refusal is a permission that was missing at a moment.
type refusal struct {
	err error
	at  time.Time
}

// refusalLifetime is how long a refusal counts. While it lasts the informer asks
// again at least twice a minute, and each refusal counts anew.
const refusalLifetime = 2 * time.Minute

func (o *Observer) recordFailure(k kind, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		o.refusals[k.resource] = refusal{plainAccessError("list and watch", k.resource, err), o.clock.Now()}
		return
	}
	o.failures[k.resource] = plainError(err)
}

// CredentialsRenewed forgets refusals: they met credentials that are not shown any more. A
// refusal of the new ones is noted when it comes; until then the age of the view
// counts.
func (o *Observer) CredentialsRenewed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.refusals)
}

func (o *Observer) permissionError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range kinds {
		if r, ok := o.refusals[k.resource]; ok && o.clock.Since(r.at) < refusalLifetime {
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
		switch err := o.failures[w.resource]; {
		case w.synced():
		case w.informer.HasSynced():
			return fmt.Errorf("listing %s: the answer is no list of them"+proxyHint, w.resource)
		case err != nil:
			return fmt.Errorf("listing %s: %w", w.resource, err)
		case missing == "":
			missing = w.resource
		}
	}
	return fmt.Errorf("listing %s: no usable answer in time; is the API server overloaded, or something between cut off?", missing)
}

// plainAccessError names the permission that is missing.
func plainAccessError(verb, resource string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		said := strings.TrimPrefix(plainError(err).Error(), "the answer is 403: ")
		if said == string(metav1.StatusReasonForbidden) {
			said = "the server says no more"
		}
		return &translatedError{fmt.Sprintf("permission to %s %s is missing; grant it to this account: %s", verb, resource, said), err}
	case apierrors.IsUnauthorized(err):
		return &translatedError{fmt.Sprintf("the API server does not accept the credentials (401 to %s %s); is the token or certificate still valid?", verb, resource), err}
	}
	return fmt.Errorf("asking for %s: %w", resource, plainError(err))
}

func (o *Observer) notifyPodChange() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.podsChanged)
	o.podsChanged = make(chan struct{})
}

// Changed returns a channel that is closed at the next change of any pod. Take
// it before looking at Pods, so that no change is missed.
func (o *Observer) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.podsChanged
}

// Pods lists the pods of a namespace as last seen; read-only.
func (o *Observer) Pods(namespace string) []*corev1.Pod {
	pods, err := o.factory.Core().V1().Pods().Lister().Pods(namespace).List(labels.Everything())
	if err != nil {
		return nil // the lister reads memory; it has no way to fail
	}
	return pods
}

// Node is a node as last seen, nil when there is none; read-only.
func (o *Observer) Node(name string) *corev1.Node {
	n, err := o.factory.Core().V1().Nodes().Lister().Get(name)
	if err != nil {
		return nil
	}
	return n
}

// Nodes are all nodes as last seen; read-only.
func (o *Observer) Nodes() []*corev1.Node {
	nodes, err := o.factory.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil // the lister reads memory; it has no way to fail
	}
	return nodes
}

func (o *Observer) pods() cache.SharedIndexInformer { return o.factory.Core().V1().Pods().Informer() }

// Objects are all objects as last seen, with the time, the server's version, and
// what is measured.
func (o *Observer) Objects() *cluster.Objects {
	usage := o.currentUsage()
	out := &cluster.Objects{TakenAt: o.clock.Now().UTC(), Usage: usage}
	for _, w := range o.watched {
		for _, x := range w.informer.GetStore().List() {
			w.add(out, x)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	out.ServerVersion, out.ClusterUID = o.version, o.uid
	return out
}

// Snapshot indexes the objects as last seen. It refuses while a permission is
// missing, for a cluster half seen would be judged wrongly; and, with *Stale,
// while a kind is further behind than BoundStaleness allows.
func (o *Observer) Snapshot(context.Context) (*cluster.Snapshot, error) {
	if err := o.permissionError(); err != nil {
		return nil, err
	}
	if err := o.stalenessError(); err != nil {
		return nil, err
	}
	s, err := cluster.New(o.Objects())
	if err != nil {
		return nil, fmt.Errorf("indexing the cluster: %w", err)
	}
	return s, nil
}
