package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const aboutSnapshots = `A snapshot for ` + "`plan -f`" + ` may come from any source. Evenkeel refuses a snapshot that it cannot parse, or
that no API server could return. The message names the file, the document and the item. The file of
each row is snapshot.yaml.
`

// snapshotFile returns a snapshot with the given text.
func snapshotFile(text string) map[string]string { return map[string]string{"snapshot.yaml": text} }

const (
	planSnapshot = "plan -f snapshot.yaml"
	aNode        = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	jsonNode     = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`
)

func snapshotRows(t *testing.T) []badInput {
	rows := append(unreadableFileRows(t), nonObjectRows()...)
	rows = append(rows, invalidObjectRows()...)
	rows = append(rows, conflictingObjectRows()...)
	for i := range rows {
		rows[i].exit = 1
		if rows[i].args == "" {
			rows[i].args = planSnapshot
		}
		if rows[i].files != nil {
			if text := rows[i].files["snapshot.yaml"]; len(text) < 60 && isPrintable(strings.TrimSpace(text)) {
				rows[i].text = strings.TrimSpace(text)
			}
		}
	}
	return rows
}

// isPrintable reports whether the text consists of one printable line.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// unreadableFileRows are files that are neither YAML nor JSON.
func unreadableFileRows(t *testing.T) []badInput {
	whole := gzipText(t, readExample())
	return []badInput{
		{input: "an empty file", files: snapshotFile(""), want: "evenkeel: snapshot.yaml: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "only comments", files: snapshotFile("# nothing\n---\n# nothing either\n"), want: "evenkeel: snapshot.yaml: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "empty standard input", args: "plan -f -", want: "evenkeel: standard input: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "broken text on standard input", args: "plan -f -", stdin: "a: [\n", want: "evenkeel: standard input, document 1: broken YAML: line 1: did not find expected node content"},
		{input: "an empty device", args: "plan -f /dev/null", want: "evenkeel: /dev/null: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a directory without usable files", args: "plan -f directory", files: map[string]string{"directory/readme.txt": "hello"}, want: "evenkeel: reading the snapshot: directory has no .yaml, .yml, .json or .gz file"},
		{input: "a directory with a broken file", args: "plan -f directory", files: map[string]string{"directory/a.yaml": aNode, "directory/b.yaml": "a: ["}, want: "evenkeel: directory/b.yaml, document 1: broken YAML: line 1: did not find expected node content"},
		{input: "broken YAML", files: snapshotFile("a: [b\nc"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: line 2: did not find expected ',' or ']'"},
		{input: "a tab as indentation", files: snapshotFile("apiVersion: v1\nmetadata:\n\tname: n1\n"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: line 3: found character that cannot start any token"},
		{input: "the second document is broken", files: snapshotFile(aNode + "---\nkind: {\n"), want: "evenkeel: snapshot.yaml, document 2: broken YAML: line 2: did not find expected node content"},
		{input: "a key that occurs twice in YAML", files: snapshotFile("apiVersion: v1\nkind: Node\nkind: Pod\n"), want: `evenkeel: snapshot.yaml, document 1: broken YAML: line 3: key "kind" already set in map`},
		{input: "a field that occurs twice in JSON", files: snapshotFile(`{"kind":"Node","kind":"Pod"}`), want: `evenkeel: snapshot.yaml, document 1: field "kind" occurs twice`},
		{input: "JSON that is truncated", files: snapshotFile(`{"apiVersion":"v1","kind":"List","items":[` + jsonNode + `,{"apiVersion":"v1","kin`), want: "evenkeel: snapshot.yaml, document 1, item 2: the input is truncated; is the file complete? (line 1)"},
		{input: "JSON with an extra comma", files: snapshotFile(`{"apiVersion":"v1",}`), want: "evenkeel: snapshot.yaml, document 1: broken JSON: invalid character '}' looking for beginning of object key string (line 1)"},
		{input: "JSON with a comment", files: snapshotFile(`{"apiVersion":"v1", // a node`), want: "evenkeel: snapshot.yaml, document 1: broken JSON: invalid character '/' looking for beginning of object key string (line 1)"},
		{input: "JSON with NaN", files: snapshotFile(`{"apiVersion":"v1","kind":"Node","status":{"allocatable":{"cpu":NaN}}}`), want: `evenkeel: snapshot.yaml, document 1: field "status": broken JSON: invalid character 'N' looking for beginning of value (line 1)`},
		{input: "text after the JSON", files: snapshotFile(jsonNode + " and more"), want: "evenkeel: snapshot.yaml, document 2: broken JSON: invalid character 'a' looking for beginning of value (line 1)"},
		{input: "NUL bytes", files: snapshotFile("kind: \x00\x00\n"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: control characters are not allowed; is this a text file?"},
		{input: "text that is not UTF-8", files: snapshotFile("kind: \xc3\x28\n"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: invalid trailing UTF-8 octet; is this a text file?"},
		{input: "text in UTF-16, as Windows writes it", files: snapshotFile("\xff\xfek\x00i\x00n\x00d\x00:\x00 \x00N\x00o\x00d\x00e\x00\n\x00"), want: "evenkeel: snapshot.yaml: the file is UTF-16; save it as UTF-8 (PowerShell: Out-File -Encoding utf8)"},
		{input: "a program", files: snapshotFile("\x7fELF\x02\x01\x01\x00\x00\x00"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: control characters are not allowed; is this a text file?"},
		{input: "a gzip file that is truncated", files: snapshotFile(whole[:len(whole)/2]), want: "evenkeel: snapshot.yaml: reading the file: unexpected EOF; is the file complete?"},
		{input: "only the beginning of a gzip file", files: snapshotFile(whole[:2]), want: "evenkeel: snapshot.yaml: decompressing: unexpected EOF; is the file complete?"},
		{input: "a gzip file with a wrong checksum", files: snapshotFile(whole[:len(whole)-8] + "\x00\x00\x00\x00" + whole[len(whole)-4:]), want: "evenkeel: snapshot.yaml: reading the file: gzip: invalid checksum; is the file complete?"},
		{input: "a gzip file in a gzip file", files: snapshotFile(gzipText(t, whole)), want: "evenkeel: snapshot.yaml, document 1: broken YAML: control characters are not allowed; is this a text file?"},
		{input: "a web page", files: snapshotFile(loginPage), want: `evenkeel: snapshot.yaml, document 1: want an object, found "<!DOCTYPE html><html><body>Please log in..."`},
		{input: "a table that kubectl printed", files: snapshotFile("NAME STATUS AGE\nn1   Ready  3d\n"), want: `evenkeel: snapshot.yaml, document 1: want an object, found "NAME STATUS AGE n1   Ready  3d"`},
		{input: "an alias bomb", files: snapshotFile(aliasBomb()), want: "evenkeel: snapshot.yaml, document 1: broken YAML: document contains excessive aliasing"},
		{input: "an alias that contains itself", files: snapshotFile("a: &a [*a]\n"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: anchor 'a' value contains itself"},
		{input: "an alias to nothing", files: snapshotFile("a: *b\n"), want: "evenkeel: snapshot.yaml, document 1: broken YAML: unknown anchor 'b' referenced"},
		{input: "YAML, 20,000 deep", files: snapshotFile("a: " + strings.Repeat("[", 20000)), want: "evenkeel: snapshot.yaml, document 1: broken YAML: exceeded max depth of 10000"},
		{input: "JSON, 20,000 deep", files: snapshotFile(`{"a":` + strings.Repeat("[", 20000)), want: `evenkeel: snapshot.yaml, document 1: field "a": broken JSON: invalid character '[' exceeded max depth (line 1)`},
		{input: "an object of 17 MiB", files: snapshotFile(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","annotations":{"a":"` + strings.Repeat("x", 17<<20) + `"}}}`), want: `evenkeel: snapshot.yaml, document 1: field "metadata" is larger than 16777216 bytes`},
		{input: "an object of 17 MiB in a List", files: snapshotFile(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"` + strings.Repeat("x", 17<<20) + `"}}]}`), want: "evenkeel: snapshot.yaml, document 1, item 1: larger than 16777216 bytes"},
	}
}

func gzipText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err1 := w.Write([]byte(text))
	if err2 := w.Close(); err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return b.String()
}

// aliasBomb is a YAML document whose aliases expand to 9^9 words.
func aliasBomb() string {
	text := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	return text
}

// nonObjectRows are YAML or JSON without Kubernetes objects.
func nonObjectRows() []badInput {
	list := func(items string) map[string]string {
		return snapshotFile(`{"apiVersion":"v1","kind":"List","items":` + items + `}`)
	}
	return []badInput{
		{input: "a word", files: snapshotFile("hello\n"), want: `evenkeel: snapshot.yaml, document 1: want an object, found "hello"`},
		{input: "a number", files: snapshotFile("7\n"), want: "evenkeel: snapshot.yaml, document 1: want an object, found 7"},
		{input: "a list instead of an object", files: snapshotFile("- kind: Node\n"), want: "evenkeel: snapshot.yaml, document 1: want an object, found a list; did you mean the items of a List?"},
		{input: "a JSON list instead of an object", files: snapshotFile(`[` + jsonNode + `]`), want: "evenkeel: snapshot.yaml, document 1: want an object, found a list; did you mean the items of a List?"},
		{input: "no kind", files: snapshotFile("apiVersion: v1\n"), want: "evenkeel: snapshot.yaml, document 1: apiVersion or kind is missing; is this a Kubernetes object?"},
		{input: "no apiVersion", files: snapshotFile("kind: Node\n"), want: "evenkeel: snapshot.yaml, document 1: apiVersion or kind is missing; is this a Kubernetes object?"},
		{input: "a kind that is not a word", files: snapshotFile("apiVersion: v1\nkind: [Node]\n"), want: `evenkeel: snapshot.yaml, document 1: field "kind": want a word, found a list`},
		{input: "an apiVersion that is not a word", files: snapshotFile("apiVersion: 1\nkind: Node\n"), want: `evenkeel: snapshot.yaml, document 1: field "apiVersion": want a word (in quotes), found a number`},
		{input: "keys with capitals", files: snapshotFile("ApiVersion: v1\nKind: Node\n"), want: "evenkeel: snapshot.yaml, document 1: apiVersion or kind is missing; is this a Kubernetes object?"},
		{input: "kinds that are not read", files: snapshotFile("apiVersion: v1\nkind: Secret\n"), want: "evenkeel: snapshot.yaml: the snapshot has no Node (ignored kinds: v1 Secret); include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a configuration", files: snapshotFile(configHead), want: "evenkeel: snapshot.yaml: the snapshot has no Node (ignored kinds: evenkeel.io/v1alpha1 RebalanceConfig); include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a saved plan", files: snapshotFile("apiVersion: evenkeel.io/v1alpha1\nkind: Plan\nmoves: []\n"), want: "evenkeel: snapshot.yaml: the snapshot has no Node (ignored kinds: evenkeel.io/v1alpha1 Plan); include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "an empty List", files: list(`[]`), want: "evenkeel: snapshot.yaml: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a List whose items are null", files: list(`null`), want: "evenkeel: snapshot.yaml: the snapshot contains no objects; create one with evenkeel capture, or with kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a List whose items are a map", files: list(`{"a":` + jsonNode + `}`), want: "evenkeel: snapshot.yaml, document 1: items: want a list, found keys and values"},
		{input: "a List whose items are a word", files: list(`"all"`), want: `evenkeel: snapshot.yaml, document 1: items: want a list, found "all"`},
		{input: "a List with null in it", files: list(`[` + jsonNode + `,null]`), want: "evenkeel: snapshot.yaml, document 1, item 2: want an object, found null"},
		{input: "a List with a word in it", files: list(`["n1"]`), want: `evenkeel: snapshot.yaml, document 1, item 1: want an object, found "n1"`},
		{input: "a List with an object without kind", files: list(`[{"metadata":{"name":"n1"}}]`), want: "evenkeel: snapshot.yaml, document 1, item 1: apiVersion or kind is missing; is this a Kubernetes object?"},
		{input: "items that occur twice", files: snapshotFile(`{"apiVersion":"v1","kind":"List","items":[],"items":[]}`), want: `evenkeel: snapshot.yaml, document 1: field "items" occurs twice`},
		{input: "Lists in Lists, 4,000 deep", files: snapshotFile(strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 4000) + strings.Repeat("]}", 4000)), want: "evenkeel: snapshot.yaml, document 1, item 1, item 1, item 1, item 1, item 1, item 1, item 1, item 1, item 1: Lists are nested more than 8 deep"},
		{input: "a List whose annotations are a list", files: snapshotFile("apiVersion: v1\nkind: List\nmetadata: {annotations: [a]}\nitems: []\n"), want: "evenkeel: snapshot.yaml, document 1: metadata of the List: annotations: want keys and values, found a list"},
		{input: "a List taken yesterday", files: snapshotFile("apiVersion: v1\nkind: List\nmetadata: {annotations: {evenkeel.io/taken-at: yesterday}}\nitems: []\n"), want: `evenkeel: snapshot.yaml, document 1: annotation evenkeel.io/taken-at: "yesterday" is not a time such as 2026-01-02T15:04:05Z`},
		{input: "a server version that is a word", edit: []string{`server-version: "1.37"`, `server-version: latest`}, want: `evenkeel: snapshot.yaml: server version "latest" is not major.minor, such as 1.37`},
		{input: "a server version without minor", edit: []string{`server-version: "1.37"`, `server-version: "1"`}, want: `evenkeel: snapshot.yaml: server version "1" is not major.minor, such as 1.37`},
		{input: "a negative server version", edit: []string{`server-version: "1.37"`, `server-version: "1.-37"`}, want: `evenkeel: snapshot.yaml: server version "1.-37" is not major.minor, such as 1.37`},
		{input: "an enormous server version", edit: []string{`server-version: "1.37"`, `server-version: "1.99999999999999999999"`}, want: `evenkeel: snapshot.yaml: server version "1.99999999999999999999" is not major.minor, such as 1.37`},
	}
}

// invalidObjectRows returns snapshots with an invalid object, and the error message that each must cause.
func invalidObjectRows() []badInput {
	node := func(rest string) map[string]string { return snapshotFile(aNode + rest) }
	pod := func(rest string) map[string]string {
		return snapshotFile(aNode + "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: p}\n" + rest)
	}
	return []badInput{
		{input: "a node without a name", files: snapshotFile("apiVersion: v1\nkind: Node\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node: metadata.name is missing"},
		{input: "a pod without a namespace", files: snapshotFile("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Pod p: metadata.namespace is missing"},
		{input: "metadata that is a word", files: snapshotFile("apiVersion: v1\nkind: Node\nmetadata: n1\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node: metadata: want keys and values, found a word"},
		{input: "a name that is a number", files: snapshotFile("apiVersion: v1\nkind: Node\nmetadata: {name: 7}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node: metadata.name: want a word (in quotes), found a number"},
		{input: "labels that are a list", files: snapshotFile("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: [zone]}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node n1: metadata.labels: want keys and values, found a list"},
		{input: "a label that is not quoted", files: snapshotFile("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {gpu: true}}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node n1: metadata.labels: want a word (in quotes), found true or false"},
		{input: "an invalid time", files: snapshotFile("apiVersion: v1\nkind: Node\nmetadata: {name: n1, creationTimestamp: once}\n"), want: `evenkeel: snapshot.yaml, document 1: reading Node n1: "once" is not a time such as 2026-01-02T15:04:05Z`},
		{input: "an amount in words", files: node("status: {allocatable: {cpu: four}}\n"), want: `evenkeel: snapshot.yaml, document 1: reading Node n1: status.allocatable.cpu: "four" is not a quantity (want a number with an optional unit, such as 500m, 2 or 4Gi)`},
		{input: "an amount of an unknown unit", files: node("status: {allocatable: {memory: 4GB}}\n"), want: `evenkeel: snapshot.yaml, document 1: reading Node n1: status.allocatable.memory: "4GB" is not a quantity (want a number with an optional unit, such as 500m, 2 or 4Gi)`},
		{input: "a negative amount", files: node("status: {allocatable: {cpu: -4}}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node n1: status.allocatable.cpu: -4 is negative"},
		{input: "taints that are a word", files: node("spec: {taints: none}\n"), want: "evenkeel: snapshot.yaml, document 1: reading Node n1: spec.taints: want a list, found a word"},
		{input: "containers that are a number", files: pod("spec: {containers: 7}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: spec.containers: want a list, found a number"},
		{input: "a negative request", files: pod("spec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: containers[0].resources.requests.cpu: -1 is negative"},
		{input: "a negative request of an init container", files: pod("spec: {initContainers: [{name: c, resources: {requests: {memory: -1Mi}}}]}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: initContainers[0].resources.requests.memory: -1Mi is negative"},
		{input: "a negative overhead", files: pod("spec: {overhead: {cpu: -500m}}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: overhead.cpu: -500m is negative"},
		{input: "a request in words", files: pod("spec: {containers: [{name: c}, {name: d, resources: {requests: {cpu: much}}}]}\n"), want: `evenkeel: snapshot.yaml, document 2: reading Pod shop/p: spec.containers[1].resources.requests.cpu: "much" is not a quantity (want a number with an optional unit, such as 500m, 2 or 4Gi)`},
		{input: "a priority that is a fraction", files: pod("spec: {priority: 0.5}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: spec.priority: want a whole number in range, found 0.5"},
		{input: "a priority that is too large", files: pod("spec: {priority: 99999999999}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: spec.priority: want a whole number in range, found 99999999999"},
		{input: "a node name that is a list", files: pod("spec: {nodeName: [n1]}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: spec.nodeName: want a word, found a list"},
		{input: "conditions that are a word", files: pod("status: {conditions: Ready}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Pod shop/p: status.conditions: want a list, found a word"},
		{input: "negative replicas", files: snapshotFile(aNode + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: shop, name: d}\nspec: {replicas: -1}\n"), want: "evenkeel: snapshot.yaml, document 2: reading Deployment shop/d: -1 replicas: the number is negative"},
		{input: "replicas in words", files: snapshotFile(aNode + "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {namespace: shop, name: d}\nspec: {replicas: three}\n"), want: "evenkeel: snapshot.yaml, document 2: reading StatefulSet shop/d: spec.replicas: want a whole number, found a word"},
		{input: "a budget whose minimum is a list", files: snapshotFile(aNode + "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {namespace: shop, name: d}\nspec: {minAvailable: [1]}\n"), want: "evenkeel: snapshot.yaml, document 2: reading PodDisruptionBudget shop/d: spec.minAvailable: want a whole number, found a list"},
	}
}

// conflictingObjectRows are valid objects that contradict each other.
func conflictingObjectRows() []badInput {
	return []badInput{
		{input: "pods without nodes", files: snapshotFile("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: p}\n"), want: "evenkeel: snapshot.yaml: the snapshot has no Node; include nodes, as in: kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"},
		{input: "a node that occurs twice", files: snapshotFile(aNode + "---\n" + aNode), want: "evenkeel: snapshot.yaml: Node n1 occurs twice in the snapshot"},
		{input: "a pod that occurs twice", edit: []string{"name: a-6c8f-01", "name: a-6c8f-00"}, want: "evenkeel: snapshot.yaml: Pod shop/a-6c8f-00 occurs twice in the snapshot"},
		{input: "a Deployment that occurs twice", edit: []string{"metadata: {namespace: shop, name: b, uid: \"", "metadata: {namespace: shop, name: a, uid: \""}, want: "evenkeel: snapshot.yaml: Deployment shop/a occurs twice in the snapshot"},
		{input: "a namespace that occurs twice", files: snapshotFile(aNode + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"), want: "evenkeel: snapshot.yaml: Namespace shop occurs twice in the snapshot"},
		{input: "a budget that occurs twice", files: snapshotFile(aNode + strings.Repeat("---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {namespace: shop, name: d}\nspec: {selector: {}}\n", 2)), want: "evenkeel: snapshot.yaml: PodDisruptionBudget shop/d occurs twice in the snapshot"},
		{input: "the same file twice", args: "plan -f three-zones.yaml -f three-zones.yaml", want: "evenkeel: three-zones.yaml, three-zones.yaml: Namespace shop occurs twice in the snapshot\nNode n1 occurs twice in the snapshot\nNode n2 occurs twice in the snapshot\nNode n3 occurs twice in the snapshot\nPod shop/a-6c8f-00 occurs twice in the snapshot\n... and 20 more errors; was the same file given twice?"},
	}
}
