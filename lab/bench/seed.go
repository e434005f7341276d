package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const (
	perApp      = 20
	zones       = 3
	parallelism = 32
	// leaseNamespace is the namespace of Evenkeel's Lease, in every cluster.
	leaseNamespace = metav1.NamespaceDefault
)

// Shapes of clusters besides the uneven one, whose shape is empty. The shape of a snapshot ends in the first digits of
// the file's SHA-256.
const (
	mixedShape    = "mixed"
	snapshotShape = "snapshot-"
)

// newObjects returns the objects to seed.
func (s settings) newObjects() (*cluster.Objects, error) {
	r := rand.New(rand.NewPCG(1, 1))
	switch {
	case s.snapshot != "":
		return cluster.ReadFiles([]string{s.snapshot}, nil)
	case s.shape == mixedShape:
		return simulation.FiveSizes(r, s.nodes, s.pods), nil
	}
	return simulation.Uneven(r, s.nodes, s.pods), nil
}

// seedCluster creates the objects of a cluster, and keeps the data of etcd for measurements.
func seedCluster(ctx context.Context, s settings, stderr *os.File) error {
	o, err := s.newObjects()
	if err != nil {
		return err
	}
	// The control plane runs no controller that creates pods.
	c, err := controlplane.Start(ctx, controlplane.Options{WithoutKwok: true,
		Controllers: []string{"serviceaccount-controller"}, Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	begun := time.Now()
	if err := newSeeder(c.Client).create(ctx, o); err != nil {
		return err
	}
	took, pods := time.Since(begun), seedablePods(o)
	folder := filepath.Join(s.work, "etcd")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := c.CopyEtcdData(folder); err != nil {
		return err
	}
	return writeJSON(s.resultPath("seed"), seeded{Nodes: len(o.Nodes), Pods: len(pods), Unready: countUnready(pods),
		Seconds: took.Seconds(), Load: loadAverage()})
}

// seeded is the result of seedCluster. Unready is the number of pods that are not Ready.
type seeded struct {
	Nodes   int     `json:"nodes"`
	Pods    int     `json:"pods"`
	Unready int     `json:"unready,omitempty"`
	Seconds float64 `json:"seconds"`
	Load    string  `json:"load"`
}

func (s settings) readSeeded() (out seeded, err error) {
	data, err := os.ReadFile(s.resultPath("seed"))
	if err != nil {
		return out, fmt.Errorf("reading the result of the step seed: %w", err)
	}
	return out, json.Unmarshal(data, &out)
}

// snapshotSize returns the size of the cluster in a snapshot file.
func snapshotSize(path string) (clusterSize, error) {
	o, err := cluster.ReadFiles([]string{path}, nil)
	if err != nil {
		return clusterSize{}, err
	}
	sum, err := fileFingerprint(path)
	if err != nil {
		return clusterSize{}, err
	}
	return clusterSize{len(o.Nodes), len(seedablePods(o)), snapshotShape + sum}, nil
}

// seedablePods returns the pods that are neither finished nor terminating.
func seedablePods(o *cluster.Objects) (out []*corev1.Pod) {
	for _, p := range o.Pods {
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			out = append(out, p)
		}
	}
	return out
}

func countUnready(pods []*corev1.Pod) (n int) {
	for _, p := range pods {
		if !isReady(p) {
			n++
		}
	}
	return n
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return p.Status.Phase == corev1.PodRunning && c.Status == corev1.ConditionTrue
		}
	}
	return false
}
