// Package metricsserver reads the usage of nodes and pods from the metrics API of a cluster,
// metrics.k8s.io. metrics-server or an adapter serves that API.
//
// The package sends two requests for each sample at any cluster size, because the API has no paging. The package
// never contacts a node.
package metricsserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

// maxBytes limits the size of an answer. An answer about 150,000 pods with two containers and five
// labels each takes 55 MB.
const maxBytes = 256 << 20

// Options configures a source.
type Options struct {
	// Timeout limits each of the two requests.
	Timeout time.Duration
	// MaxAge is the maximum age of a measurement.
	MaxAge time.Duration
	Now    func() time.Time
}

// Source reads from the metrics API.
type Source struct {
	opts   Options
	client rest.Interface
}

// New returns a source for an API server. The source asks for protobuf, which is much cheaper to decode than JSON.
func New(conf *rest.Config, o Options) (*Source, error) {
	c := rest.CopyConfig(conf)
	c.APIPath, c.GroupVersion = "/apis", &v1beta1.SchemeGroupVersion
	scheme := runtime.NewScheme() // decodes the API server's errors; this package decodes lists itself
	metav1.AddToGroupVersion(scheme, v1beta1.SchemeGroupVersion)
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.AcceptContentTypes, c.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeJSON
	c.Wrap(func(inner http.RoundTripper) http.RoundTripper { return fetch.LimitResponses(inner, maxBytes) })
	client, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask the metrics API: %w", err)
	}
	return &Source{o, client}, nil
}

// Sample sends two requests and never retries. Memory usage is the working set, so Sample can
// derive memory.available. If Sample returns an error, the sample still lists the problems.
func (s *Source) Sample(ctx context.Context, nodes []usage.Node) (usage.Sample, error) {
	now := s.opts.Now()
	var ofNodes, ofPods []itemMetrics
	var nodesErr, podsErr error
	var wg sync.WaitGroup
	wg.Go(func() { ofNodes, nodesErr = s.fetchList(ctx, "nodes", nodeList) })
	wg.Go(func() { ofPods, podsErr = s.fetchList(ctx, "pods", podList) })
	wg.Wait()
	g := usage.NewSampleBuilder(nodes, now, s.opts.MaxAge)
	if nodesErr == nil {
		s.addNodes(g, ofNodes)
	} else {
		s.addProblem(g, "nodes", nodesErr)
	}
	if podsErr == nil {
		s.addPods(g, ofPods)
	} else {
		s.addProblem(g, "pods", podsErr)
	}
	sample := g.Sample()
	if len(sample.Nodes) == 0 && len(nodes) > 0 {
		return sample, fmt.Errorf("asking the metrics API: %s", sample.Problems[0].Detail)
	}
	return sample, nil
}

func (s *Source) fetchList(ctx context.Context, resource, kind string) ([]itemMetrics, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	contentType := ""
	result := s.client.Get().Resource(resource).MaxRetries(0).Do(ctx).ContentType(&contentType)
	if err := result.Error(); err != nil { // has the server's message, which Raw omits
		return nil, err
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	decode := decodeJSON
	if strings.HasPrefix(contentType, runtime.ContentTypeProtobuf) {
		decode = decodeProto
	}
	out, err := decode(body, kind)
	if err != nil {
		return nil, unreadableAnswer{err}
	}
	return out, nil
}

// unreadableAnswer means that an answer is not a valid list.
type unreadableAnswer struct{ error }

// addProblem adds the reason why a request failed.
func (s *Source) addProblem(g *usage.SampleBuilder, resource string, err error) {
	p := fetch.ProblemOf(err, s.opts.Timeout)
	var status *apierrors.StatusError
	var bad unreadableAnswer
	switch {
	case errors.As(err, &bad):
		p = usage.Problem{Kind: usage.BadAnswer, Detail: "the answer cannot be read: " + err.Error()}
	case apierrors.IsNotFound(err):
		p = usage.Problem{Kind: usage.Unreachable, Detail: "the cluster does not serve metrics.k8s.io/v1beta1; is metrics-server installed?"}
	case apierrors.IsServiceUnavailable(err):
		p = usage.Problem{Kind: usage.Unreachable, Detail: "metrics.k8s.io/v1beta1 is not available; is metrics-server running?"}
	case errors.As(err, &status):
		p = usage.Problem{Kind: usage.BadAnswer, Detail: status.Error()}
	}
	g.AddProblem(p.Kind, resource+": "+p.Detail)
}

func (s *Source) addNodes(g *usage.SampleBuilder, items []itemMetrics) {
	cpu, memory := make([]usage.Value, 0, len(items)), make([]usage.Value, 0, len(items))
	for i := range items {
		n := &items[i]
		if !s.windowUsable(g, "nodes", n) {
			continue
		}
		if n.sum.hasCPU {
			cpu = append(cpu, usage.Value{Node: n.name, Amount: n.sum.cpu, At: n.at})
		}
		if n.sum.hasMemory {
			memory = append(memory, usage.Value{Node: n.name, Amount: n.sum.memory, At: n.at})
		}
	}
	g.AddNodes("cpu", usage.Cores, cpu)
	g.AddNodes("memory", usage.Bytes, memory)
	g.DeriveMemoryAvailable()
}

// windowUsable reports whether a measurement's window is short enough. A window longer than
// MaxAge says too little about the current usage.
func (s *Source) windowUsable(g *usage.SampleBuilder, what string, m *itemMetrics) bool {
	if m.window <= s.opts.MaxAge {
		return true
	}
	name := m.name
	if m.namespace != "" {
		name = m.namespace + "/" + m.name
	}
	g.AddProblemOf(usage.Stale, fmt.Sprintf("%s: averaged over more than %s for", what, s.opts.MaxAge), name)
	return false
}

func (s *Source) addPods(g *usage.SampleBuilder, items []itemMetrics) {
	cpu, memory := make([]usage.PodValue, 0, len(items)), make([]usage.PodValue, 0, len(items))
	for i := range items {
		p := &items[i]
		if !s.windowUsable(g, "pods", p) {
			continue
		}
		if p.sum.hasCPU {
			cpu = append(cpu, usage.PodValue{Namespace: p.namespace, Name: p.name, Amount: p.sum.cpu, At: p.at})
		}
		if p.sum.hasMemory {
			memory = append(memory, usage.PodValue{Namespace: p.namespace, Name: p.name, Amount: p.sum.memory, At: p.at})
		}
	}
	g.AddPods("cpu", usage.Cores, cpu)
	g.AddPods("memory", usage.Bytes, memory)
}
