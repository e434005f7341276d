package scenario

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	s := &Scenario{Cluster: []byte(`
base: three-nodes
objects:
- {kind: Node, metadata: {name: n3}, $patch: delete}
- {kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4"}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1"}, pods: [2 on n1, 1 on n2]}
- {kind: Pod, metadata: {name: "web-6c8f-*", labels: {tier: front}}}
- {kind: Pod, metadata: {name: web-6c8f-01}, requests: {cpu: "2"}}
- {kind: StatefulSet, metadata: {namespace: other, name: db}, pods: [1 on n2]}
`)}
	o := s.Objects(t, "{kind: Pod, metadata: {name: web-6c8f-00}, $patch: delete}")
	var got []string
	for _, n := range o.Nodes {
		got = append(got, n.Name+" "+n.Labels["topology.kubernetes.io/zone"]+" "+n.Status.Capacity.Cpu().String())
	}
	for _, rs := range o.ReplicaSets {
		got = append(got, string(rs.UID)+" of "+string(rs.OwnerReferences[0].UID))
	}
	for _, p := range o.Pods {
		cpu := p.Spec.Containers[0].Resources.Requests.Cpu().String()
		got = append(got, strings.Join([]string{string(p.UID), p.Spec.NodeName, cpu, p.Labels["tier"], p.OwnerReferences[0].Kind}, " "))
	}
	want := []string{
		"n1 zone-1 10", "n2 zone-2 4", "ReplicaSet/shop/web-6c8f of Deployment/shop/web",
		"Pod/other/db-0 n2 0  StatefulSet", "Pod/shop/web-6c8f-01 n1 2 front ReplicaSet", "Pod/shop/web-6c8f-02 n2 1 front ReplicaSet",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"base: none":   "base none",
		"bases: hello": `unknown field "bases"`,
		"objects: [{kind: Pot, metadata: {name: x}}]":                          `unknown kind "Pot"`,
		"objects: [{kind: Pod, metadata: {name: x}, $patch: delete}]":          "no such object",
		`objects: [{kind: Pod, metadata: {name: "x-*"}}]`:                      "no such object",
		"objects: [{kind: Deployment, metadata: {name: x}, pods: [n1]}]":       `"n1" is not like "2 on n1"`,
		"objects: [{kind: Deployment, metadata: {name: x}, spec: {foo: [1]}}]": "foo",
	} {
		if _, err := expand([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestEveryBaseIsUsed(t *testing.T) {
	text := ""
	for _, s := range All(t) {
		text += string(s.Cluster)
	}
	bases, err := filepath.Glob(filepath.Join(Dir(), "bases", "*.yaml"))
	if err != nil || len(bases) == 0 {
		t.Fatalf("%d bases, %v", len(bases), err)
	}
	for _, base := range bases {
		if name := strings.TrimSuffix(filepath.Base(base), ".yaml"); !strings.Contains(text, "base: "+name+"\n") {
			t.Errorf("no scenario uses the base %s", name)
		}
	}
}
