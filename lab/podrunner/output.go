package podrunner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// output is the file with the output of a container, in the format of the container runtime interface.
type output struct {
	mu      sync.Mutex
	path    string
	file    *os.File
	visible *strings.Replacer // the paths of this machine -> those in the container
}

func openOutput(path string) (*output, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &output{path: path, file: f}, err
}

func (o *output) Close() error { return o.file.Close() }

// rotate makes the output so far that of the previous run of the container.
func (o *output) rotate() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.file.Close()
	if err := os.Rename(o.path, previous(o.path)); err != nil {
		return err
	}
	var err error
	o.file, err = os.OpenFile(o.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

func previous(path string) string { return path + ".previous" }

func (o *output) line(stream, text string) {
	if o.visible != nil {
		text = o.visible.Replace(text)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.file, "%s %s F %s\n", time.Now().UTC().Format(time.RFC3339Nano), stream, text)
}

// stream returns a writer for one stream of the container.
func (o *output) stream(name string) *stream { return &stream{output: o, name: name} }

// stream writes whole lines to an output.
type stream struct {
	output *output
	name   string
	rest   []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		line, rest, found := bytes.Cut(s.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		s.output.line(s.name, string(line))
		s.rest = rest
	}
}

// flush writes a last line without an end.
func (s *stream) flush() {
	if len(s.rest) > 0 {
		s.output.line(s.name, string(s.rest))
		s.rest = nil
	}
}

func (c *container) outputFile() string { return filepath.Join(c.pod.dir, c.Name+".log") }

// serveOutput creates the objects from which kwok serves the output and the ports of a pod. They are deleted with the
// pod.
func (p *pod) serveOutput(ctx context.Context) error {
	var logs, forwards []any
	for _, c := range p.containers {
		logs = append(logs, map[string]any{"containers": []any{c.Name}, "logsFile": c.outputFile(),
			"previousLogsFile": previous(c.outputFile()), "follow": true})
		for port, local := range c.ports {
			forwards = append(forwards, map[string]any{"ports": []any{int64(port)},
				"target": map[string]any{"address": "127.0.0.1", "port": int64(local)}})
		}
	}
	if err := p.apply(ctx, "Logs", portForwards.GroupVersion().WithResource("logs"), map[string]any{"logs": logs}); err != nil {
		return err
	}
	return p.apply(ctx, "PortForward", portForwards, map[string]any{"forwards": forwards})
}

var portForwards = schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "portforwards"}

// LocalAddress returns the address of this machine that stands for a port of a pod that runs locally.
func LocalAddress(ctx context.Context, c *controlplane.Cluster, namespace, name string, port int32) (string, error) {
	objects, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return "", err
	}
	o, err := objects.Resource(portForwards).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("finding the ports of pod %s/%s: %w", namespace, name, err)
	}
	forwards, _, _ := unstructured.NestedSlice(o.Object, "spec", "forwards")
	for _, f := range forwards {
		f := f.(map[string]any)
		if ports, _, _ := unstructured.NestedSlice(f, "ports"); slices.Contains(ports, any(int64(port))) {
			target := f["target"].(map[string]any)
			return fmt.Sprintf("%v:%v", target["address"], target["port"]), nil
		}
	}
	return "", fmt.Errorf("pod %s/%s has no port %d", namespace, name, port)
}

func (p *pod) apply(ctx context.Context, kind string, gvr schema.GroupVersionResource, spec map[string]any) error {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion("kwok.x-k8s.io/v1alpha1")
	o.SetKind(kind)
	o.SetName(p.Name)
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}})
	_, err := p.runner.objects.Resource(gvr).Namespace(p.Namespace).Apply(ctx, p.Name, o, metav1.ApplyOptions{FieldManager: "lab", Force: true})
	return err
}
