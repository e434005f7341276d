// Package metricsserver asks the metrics API of a cluster, metrics.k8s.io, what
// nodes and pods use. It is what metrics-server serves, or an adapter in its place.
//
// It decides how the API is asked: two requests for a sample, at any size, for the
// API knows no pages. It never asks a node itself.
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

// maxBytes bounds an answer. Of 150,000 pods, of two containers and five labels
// each, it is 55 MB.
const maxBytes = 256 << 20

// Options of a source.
type Options struct {
	// Timeout is for each of the two requests.
	Timeout time.Duration
	// MaxAge is the age of a measurement that is still used.
	MaxAge time.Duration
	Now    func() time.Time
}

// Source is the metrics API.
type Source struct {
	opts   Options
	client rest.Interface
}

// New makes a source of a connection to the API server. Answers are asked for as
// protobuf, of which much less is made than of JSON.
func New(conf *rest.Config, o Options) (*Source, error) {
	c := rest.CopyConfig(conf)
	c.APIPath, c.GroupVersion = "/apis", &v1beta1.SchemeGroupVersion
	scheme := runtime.NewScheme() // for errors of the API server; lists are read here
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

// Sample makes two requests, and none a second time. Memory is working sets, so
// memory.available is known. With the error, the sample holds its problems.
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
	if err := result.Error(); err != nil { // in the server's words, where Raw has none
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

// unreadableAnswer is an answer that is no list.
type unreadableAnswer struct{ error }

// addProblem says why a request failed.
func (s *Source) addProblem(g *usage.SampleBuilder, resource string, err error) {
	p := fetch.ProblemOf(err, s.opts.Timeout)
	var status *apierrors.StatusError
	var bad unreadableAnswer
	switch {
	case errors.As(err, &bad):
		p = usage.Problem{Kind: usage.BadAnswer, Detail: "the answer cannot be read: " + err.Error()}
	case apierrors.IsNotFound(err):
		p = usage.Problem{Kind: usage.Unreachable, Detail: "the cluster serves no metrics.k8s.io/v1beta1; is metrics-server installed?"}
	case apierrors.IsServiceUnavailable(err):
		p = usage.Problem{Kind: usage.Unreachable, Detail: "metrics.k8s.io/v1beta1 is not available now; does metrics-server run?"}
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

// windowUsable tells whether what was averaged over the window can be used: a window that
// is longer than a measurement may be old says too little about now.
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
