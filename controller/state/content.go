package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// namePrefix of the ConfigMaps' names; the name of the part follows.
	namePrefix = "evenkeel-state-"
	// dataKey is where in binaryData the packed JSON stands.
	dataKey = "state.json.gz"
	// maxBytes bounds one packed part. The API server refuses objects above 1 MiB
	// (etcd's own limit is 1.5 MiB), names and labels included.
	maxBytes = 900 << 10
	// maxUnpacked bounds what is read of one part.
	maxUnpacked = 64 << 20
)

// partLabels tell our ConfigMaps from others.
var partLabels = map[string]string{"app.kubernetes.io/managed-by": "evenkeel", "evenkeel.io/state": "part"}

// encodePart writes a part as JSON; the same part gives the same bytes.
func encodePart(p plan.PlannerState) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("writing down what is remembered: %w", err)
	}
	return text, nil
}

// packConfigMap makes the ConfigMap of a part; no text makes an empty one.
func packConfigMap(namespace, name string, text []byte) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: maps.Clone(partLabels)}}
	if len(text) == 0 {
		return cm, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		return nil, fmt.Errorf("packing ConfigMap %s/%s: %w", namespace, name, err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("packing ConfigMap %s/%s: %w", namespace, name, err)
	}
	if b.Len() > maxBytes {
		return nil, fmt.Errorf("ConfigMap %s/%s would have %d KiB, more than the %d that fit; lower limits.perPass or limits.perHour, so that less has to be remembered at once", namespace, name, b.Len()>>10, maxBytes>>10)
	}
	cm.BinaryData = map[string][]byte{dataKey: b.Bytes()}
	return cm, nil
}

// errNewerVersion is content of a version that this program does not know.
var errNewerVersion = errors.New("it was written by a newer version of evenkeel")

// unpackConfigMap reads a part and its JSON. An empty ConfigMap is an empty part.
func unpackConfigMap(cm *corev1.ConfigMap) (plan.PlannerState, []byte, error) {
	var none plan.PlannerState
	packed := cm.BinaryData[dataKey]
	if len(packed) == 0 {
		return none, nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return none, nil, fmt.Errorf("unpacking it: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err != nil {
		return none, nil, fmt.Errorf("unpacking it: %w", err)
	}
	if len(text) > maxUnpacked {
		return none, nil, fmt.Errorf("unpacking it: it has more than %d bytes", maxUnpacked)
	}
	// What a later release of the same version adds is no reason to refuse: who
	// goes back to this release loses that alone.
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(text, &head); err != nil {
		return none, nil, err
	}
	if head.Kind == plan.PlannerStateKind && head.APIVersion != plan.APIVersion && strings.HasPrefix(head.APIVersion, "evenkeel.io/") {
		return none, nil, fmt.Errorf("%w (%s; this one knows %s)", errNewerVersion, head.APIVersion, plan.APIVersion)
	}
	var st plan.PlannerState
	if err := json.Unmarshal(text, &st); err != nil {
		return none, nil, err
	}
	if err := st.Validate(); err != nil {
		return none, nil, err
	}
	return st, text, nil
}

// unreadableError says what to do about a ConfigMap that cannot be read.
func unreadableError(namespace, name string, err error) error {
	what := "the evictions of the last hour and the back-offs of some namespaces, and passes that were cut short there"
	if strings.HasSuffix(name, clusterPart) {
		what = "the breaker, and what strategies brought"
	}
	if errors.Is(err, errNewerVersion) {
		return fmt.Errorf("reading ConfigMap %s/%s: %w; run that version, or delete the ConfigMap: forgotten are then %s", namespace, name, err, what)
	}
	return fmt.Errorf("reading ConfigMap %s/%s: %w; delete it: forgotten are then %s", namespace, name, err, what)
}
