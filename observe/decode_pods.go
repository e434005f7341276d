package observe

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// podDecoder decodes pods without the fields that stripAndIntern removes. It decodes what pods of one template have in
// common once. The result is the same as if stripAndIntern got the whole pod.
type podDecoder struct {
	intern      *internCache
	interrupted atomic.Bool // see podLister.List

	mu       sync.Mutex
	metas    pool[*metav1.ObjectMeta]
	specs    pool[*corev1.PodSpec]
	statuses pool[*corev1.PodStatus]
	buffer   []byte
}

// decodedPoolSize limits the pools of a podDecoder. API servers send pods in the order of their names, so pods of one
// template arrive together.
const decodedPoolSize = 512

func newPodDecoder(c *internCache) *podDecoder {
	d := &podDecoder{intern: c}
	d.metas.size, d.specs.size, d.statuses.size = decodedPoolSize, decodedPoolSize, decodedPoolSize
	return d
}

// The filters have the field numbers of the messages in k8s.io/api/core/v1/generated.proto and
// k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto.
var (
	sharedMeta = numbers(3, 11, 13, 14)           // namespace, labels, owner references, finalizers
	ownSpec    = numbers(10, 16, 41)              // node name, host names
	sharedPart = numbers(1, 8, 9, 10, 13, 19, 20) // phase, container statuses, QoS class, resources

	sharedMetaFilter = &fieldFilter{drop: ^sharedMeta}
	ownMetaFilter    = &fieldFilter{drop: sharedMeta | numbers(2, 17), accept: map[uint64]func([]byte) bool{12: isKeptAnnotation}}

	containerFilter = &fieldFilter{drop: numbers(3, 4, 5, 7, 13, 14, 16, 17, 18, 19, 20, 21, 23),
		accept: map[uint64]func([]byte) bool{9: func(mount []byte) bool { return fieldOf(mount, 8) != nil }}} // bind options
	sharedSpecFilter = &fieldFilter{drop: ownSpec | numbers(15, 23, 26, 34), parts: map[uint64]*fieldFilter{2: containerFilter, 20: containerFilter},
		accept: map[uint64]func([]byte) bool{1: func(volume []byte) bool { return !isConfigVolumeMessage(volume) }}}
	ownSpecFilter = &fieldFilter{drop: ^ownSpec}

	sharedStatusFilter       = statusFilter(numbers(2, 4, 5, 6, 7))
	sharedFailedStatusFilter = statusFilter(numbers(2, 4, 5, 7)) // keeps the time when the container ended
	ownStatusFilter          = &fieldFilter{drop: sharedPart | numbers(5, 6, 12, 16),
		accept: map[uint64]func([]byte) bool{2: func(condition []byte) bool { return !isStartupConditionMessage(condition) }}}
)

// statusFilter returns the filter for what the statuses of pods have in common, without fields of terminated states.
func statusFilter(dropOfTerminated fieldSet) *fieldFilter {
	container := &fieldFilter{drop: numbers(3, 6, 7, 8, 9, 12, 13, 14, 15),
		parts: map[uint64]*fieldFilter{2: {drop: numbers(2), parts: map[uint64]*fieldFilter{1: {drop: numbers(2)}, 3: {drop: dropOfTerminated}}}}}
	return &fieldFilter{drop: ^sharedPart, parts: map[uint64]*fieldFilter{8: container, 10: container, 13: container}}
}

// isKeptAnnotation also keeps the annotation of the bookmark that ends the initial events of a watch.
func isKeptAnnotation(entry []byte) bool {
	key := string(fieldOf(entry, 1))
	return cluster.IsDecisionAnnotation(key) || key == metav1.InitialEventsAnnotationKey
}

// isConfigVolumeMessage is isConfigVolume for an encoded volume.
func isConfigVolumeMessage(volume []byte) (config bool) {
	err := eachField(fieldOf(volume, 2), func(source uint64, _, _ []byte) error {
		config = config || numbers(6, 16, 19, 26).has(source) // secret, downwardAPI, configMap, projected
		return nil
	})
	return config && err == nil
}

// isStartupConditionMessage is cluster.IsStartupCondition for an encoded condition.
func isStartupConditionMessage(c []byte) bool {
	return cluster.IsStartupCondition(&corev1.PodCondition{Type: corev1.PodConditionType(fieldOf(c, 1)),
		Status: corev1.ConditionStatus(fieldOf(c, 2)), Reason: string(fieldOf(c, 5))})
}

// decode decodes a pod.
func (d *podDecoder) decode(message []byte) (*corev1.Pod, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &corev1.Pod{}
	err := eachField(message, func(number uint64, _, value []byte) error {
		switch number {
		case 1:
			return decodeParts(&d.metas, &d.buffer, sharedMetaFilter, ownMetaFilter, value, &p.ObjectMeta, func(*metav1.ObjectMeta) {})
		case 2:
			return decodeParts(&d.specs, &d.buffer, sharedSpecFilter, ownSpecFilter, value, &p.Spec, d.intern.stripPodSpec)
		case 3:
			shared := sharedStatusFilter
			if string(fieldOf(value, 1)) == string(corev1.PodFailed) {
				shared = sharedFailedStatusFilter
			}
			return decodeParts(&d.statuses, &d.buffer, shared, ownStatusFilter, value, &p.Status, d.intern.stripPodStatus)
		}
		return nil
	})
	stripConditions(&p.Status)
	p.ManagedFields = []metav1.ManagedFieldsEntry{} // see stripAndIntern
	d.intern.internObject(p)                        // before the other pods of a list take memory
	return p, err
}

// decodeParts decodes a part of a pod: what it shares with other pods, from the pool or stripped, and the other fields.
func decodeParts[T any, P interface {
	*T
	Unmarshal([]byte) error
}](from *pool[P], buffer *[]byte, shared, own *fieldFilter, message []byte, to P, strip func(P)) error {
	key, err := shared.appendKept((*buffer)[:0], message)
	*buffer = key
	if err != nil {
		return err
	}
	part, ok := from.find(key)
	if !ok {
		part = new(T)
		if err := part.Unmarshal(key); err != nil {
			return err
		}
		strip(part)
		from.put(string(key), part)
	}
	*to = *part
	rest, err := own.appendKept((*buffer)[:0], message)
	*buffer = rest
	if err != nil {
		return err
	}
	return to.Unmarshal(rest)
}

// podCodec decodes pods with a podDecoder, and other objects like the codec.
type podCodec struct {
	runtime.Serializer
	pods *podDecoder
}

var protobufPrefix = []byte("k8s\x00")

func (c podCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if message, isObject := bytes.CutPrefix(data, protobufPrefix); isObject && len(fieldOf(message, 3)) == 0 {
		meta := fieldOf(message, 1)
		gvk := schema.GroupVersionKind{Version: string(fieldOf(meta, 1)), Kind: string(fieldOf(meta, 2))}
		if gvk.Kind == "Pod" && gvk.Version == corev1.SchemeGroupVersion.Version && into == nil {
			if p, err := c.pods.decode(fieldOf(message, 2)); err == nil {
				return p, &gvk, nil
			}
		}
	}
	return c.Serializer.Decode(data, defaults, into)
}

// eventCodec decodes watch events without a copy of their object. The object is valid until the next event is decoded;
// a watch decodes it at once.
type eventCodec struct{ runtime.Serializer }

func (c eventCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if e, ok := into.(*metav1.WatchEvent); ok {
		if object := fieldOf(data, 2); object != nil {
			e.Type, e.Object.Raw = string(fieldOf(data, 1)), fieldOf(object, 1)
			return e, defaults, nil
		}
	}
	return c.Serializer.Decode(data, defaults, into)
}

// podCodecs are the usual codecs, with a podDecoder for protobuf.
type podCodecs struct {
	runtime.NegotiatedSerializer
	pods *podDecoder
}

func (c podCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	out := slices.Clone(c.NegotiatedSerializer.SupportedMediaTypes())
	for i := range out {
		if out[i].MediaType == runtime.ContentTypeProtobuf {
			out[i].Serializer = podCodec{out[i].Serializer, c.pods}
			stream := *out[i].StreamSerializer
			stream.Serializer = eventCodec{stream.Serializer}
			out[i].StreamSerializer = &stream
		}
	}
	return out
}
