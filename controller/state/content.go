package state

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// namePrefix is the prefix of each ConfigMap name. The name of the part follows.
	namePrefix = "evenkeel-state-"
	// dataKey is the key in binaryData for the compressed JSON.
	dataKey = "state.json.gz"
	// maxBytes bounds one compressed part. The API server rejects objects above 1 MiB, including
	// names and labels; the limit of etcd is 1.5 MiB.
	maxBytes = 900 << 10
	// maxUnpacked bounds one uncompressed document.
	maxUnpacked = 64 << 20
)

var partLabels = map[string]string{"app.kubernetes.io/managed-by": "evenkeel", "evenkeel.io/state": "part"}

// packConfigMap returns the ConfigMap of a part. If text is empty, the ConfigMap has no data.
func packConfigMap(namespace, name string, text []byte) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: maps.Clone(partLabels)}}
	if len(text) == 0 {
		return cm, nil
	}
	packed, err := Compress(text)
	if err != nil {
		return nil, fmt.Errorf("packing ConfigMap %s/%s: %w", namespace, name, err)
	}
	if len(packed) > maxBytes {
		return nil, fmt.Errorf("ConfigMap %s/%s would have %d KiB, more than the %d that fit; lower limits.perPass or limits.perHour to "+
			"reduce the size of the state", namespace, name, len(packed)>>10, maxBytes>>10)
	}
	cm.BinaryData = map[string][]byte{dataKey: packed}
	return cm, nil
}

// Compress returns a document in the form in which ConfigMaps store it.
func Compress(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// Decompress is the inverse of Compress. It returns an error if the document is too large.
func Decompress(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
	if err == nil && len(text) > maxUnpacked {
		err = fmt.Errorf("the document has more than %d MiB", maxUnpacked>>20)
	}
	return text, err
}

// unpacked counts the parts of one load, which are read concurrently and unpacked one after the other. Whoever can
// write one ConfigMap of the state can often write all of them, so the bounds hold for their sum.
type unpacked struct {
	sync.Mutex
	size plan.DecodedSize
}

var errNewerVersion = errors.New("it was written by a newer version of evenkeel")

// unpackConfigMap returns the part in a ConfigMap, and its JSON. A ConfigMap without data is an empty part.
func unpackConfigMap(cm *corev1.ConfigMap, total *unpacked) (plan.PlannerState, []byte, error) {
	var none plan.PlannerState
	packed := cm.BinaryData[dataKey]
	if len(packed) == 0 {
		return none, nil, nil
	}
	total.Lock()
	defer total.Unlock()
	text, err := Decompress(packed)
	if err == nil {
		err = total.size.Add(text)
	}
	if err != nil {
		return none, nil, fmt.Errorf("unpacking it: %w", err)
	}
	// Unknown fields are accepted: a later release with the same API version may have added them.
	// After a downgrade, only such fields are lost.
	var head struct{ APIVersion, Kind string }
	if err := plan.Decode(text, &head); err != nil {
		return none, nil, err
	}
	if head.Kind == plan.PlannerStateKind && head.APIVersion != plan.APIVersion && strings.HasPrefix(head.APIVersion, "evenkeel.io/") {
		return none, nil, fmt.Errorf("%w (%s; this one knows %s)", errNewerVersion, head.APIVersion, plan.APIVersion)
	}
	var st plan.PlannerState
	if err := plan.Decode(text, &st); err != nil {
		return none, nil, err
	}
	if err := st.Validate(); err != nil {
		return none, nil, err
	}
	return st, text, nil
}

func unreadableError(namespace, name string, err error) error {
	what := "the evictions of the last hour, the back-offs and the interrupted passes of some namespaces"
	if strings.HasSuffix(name, clusterPart) {
		what = "the breaker, the last pause and the trust in schedulers"
	}
	if errors.Is(err, errNewerVersion) {
		return fmt.Errorf("reading ConfigMap %s/%s: %w; run that version, or delete the ConfigMap, which loses %s", namespace, name, err, what)
	}
	return fmt.Errorf("reading ConfigMap %s/%s: %w; delete the ConfigMap, which loses %s", namespace, name, err, what)
}
