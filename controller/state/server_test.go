package state

import (
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const ns = "ops"

var configMaps = schema.GroupResource{Resource: "configmaps"}

// fakeServer serves ConfigMaps like an API server: it increments resource versions and rejects writes with an old one.
type fakeServer struct {
	mu         sync.Mutex
	version    int
	configMaps map[string]*corev1.ConfigMap
	writes     []string // names of the ConfigMaps, in order
	calls      int
	// before and after can replace the answer of a call. When after is called, the call has already taken effect.
	before, after func(verb, name string, call int) error
}

func newFakeServer() *fakeServer { return &fakeServer{configMaps: map[string]*corev1.ConfigMap{}} }

func (s *fakeServer) client() *fake.Clientset {
	c := fake.NewClientset()
	c.PrependReactor("*", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		o, err := s.respond(a)
		if err != nil {
			return true, nil, err
		}
		return true, o, nil
	})
	return c
}

func (s *fakeServer) respond(a clienttesting.Action) (*corev1.ConfigMap, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	call := s.calls
	var sent *corev1.ConfigMap
	var name string
	switch a := a.(type) {
	case clienttesting.CreateAction: // an UpdateAction also matches here
		sent = a.GetObject().(*corev1.ConfigMap).DeepCopy()
		name = sent.Name
	case clienttesting.GetAction:
		name = a.GetName()
	}
	if s.before != nil {
		if err := s.before(a.GetVerb(), name, call); err != nil {
			return nil, err
		}
	}
	out, err := s.handle(a.GetVerb(), name, sent)
	if err == nil && s.after != nil {
		if err := s.after(a.GetVerb(), name, call); err != nil {
			return nil, err
		}
	}
	return out, err
}

func (s *fakeServer) handle(verb, name string, sent *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	there := s.configMaps[name]
	switch verb {
	case "get":
		if there == nil {
			return nil, apierrors.NewNotFound(configMaps, name)
		}
		return there.DeepCopy(), nil
	case "create":
		if there != nil {
			return nil, apierrors.NewAlreadyExists(configMaps, name)
		}
	case "update":
		if there == nil {
			return nil, apierrors.NewNotFound(configMaps, name)
		}
		if sent.ResourceVersion != there.ResourceVersion {
			return nil, apierrors.NewConflict(configMaps, name, fmt.Errorf("the object has been modified"))
		}
	default:
		return nil, apierrors.NewMethodNotSupported(configMaps, verb)
	}
	s.version++
	sent.ResourceVersion = strconv.Itoa(s.version)
	s.configMaps[name], s.writes = sent, append(s.writes, name)
	return sent.DeepCopy(), nil
}
