package auditverifier

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Eviction is a request to evict or delete a pod, as the audit log of the API server records it.
type Eviction struct {
	At, Done             time.Time // when the API server received and answered the request
	User                 string
	Namespace, Name, UID string // UID is the precondition of the request; empty if it has none
	Code                 int32
	Deletion             bool // by a request to delete the pod
}

// accepted reports whether the API server accepted the eviction.
func (e Eviction) accepted() bool { return e.Code >= 200 && e.Code < 300 }

// outcomeUnknown reports whether the pod may have been evicted although the request failed: the connection broke, or
// the server failed while it handled the request.
func (e Eviction) outcomeUnknown() bool { return e.Code == 0 || e.Code >= 499 }

// auditLog holds the evictions, the Lease holders and the forbidden writes of the users under test.
type auditLog struct {
	evictions []Eviction
	// holders maps the identity in the Lease to the user that wrote it.
	holders       map[string]string
	foreignWrites []Violation
}

// readLog collects the evictions and Lease holders of the users under test, and their deletions of pods if the rules
// allow them. Writes of events, and of ConfigMaps in the namespace of the evidence, and of the own part of the
// objects of evenkeel.io there, are expected and ignored. Any other successful write is a violation.
func (c Evidence) readLog() auditLog {
	l := auditLog{holders: map[string]string{}}
	for _, e := range c.Events {
		if !c.Ours(e.User.Username) || e.ObjectRef == nil || e.Stage == auditv1.StageRequestReceived ||
			e.Stage == auditv1.StageResponseStarted {
			continue
		}
		r := e.ObjectRef
		switch {
		case e.Verb == "get" || e.Verb == "list" || e.Verb == "watch":
		case r.Resource == "pods" && r.Subresource == "eviction" && e.Verb == "create",
			r.Resource == "pods" && r.Subresource == "" && e.Verb == "delete" && c.Rules.DeletesFailedPods:
			l.evictions = append(l.evictions, parseEviction(e))
		case r.Resource == "leases" && r.Namespace == c.Namespace:
			if x := leaseHolder(e); x != "" && statusCode(e) < 300 {
				l.holders[x] = e.User.Username
			}
		case r.Resource == "configmaps" && r.Namespace == c.Namespace, r.Resource == "events":
		case r.APIGroup == "evenkeel.io" && r.Namespace == c.Namespace && writesOwnPart(e):
		case statusCode(e) >= 400: // refused: the write changed nothing
		case r.APIGroup == "authorization.k8s.io": // a query of its own permissions changes nothing
		default:
			l.foreignWrites = append(l.foreignWrites,
				Violation{Kind: ForeignWrite, User: e.User.Username, At: e.RequestReceivedTimestamp.Time,
					What: fmt.Sprintf("%s %s/%s %s/%s", e.Verb, r.Resource, r.Subresource, r.Namespace, r.Name)})
		}
	}
	return l
}

// Evictions returns the requests to evict a pod.
func (c Evidence) Evictions() []Eviction { return c.readLog().evictions }

// writesOwnPart reports whether a write of an object of evenkeel.io is one that a controller makes: it creates and
// deletes objects, and then writes only their status. What people write, the spec and the decision, it never changes.
func writesOwnPart(e auditv1.Event) bool {
	r := e.ObjectRef
	return e.Verb == "create" || r.Subresource == "status" || r.Resource == "rebalancehistories" ||
		e.Verb == "delete" && (r.Resource == "rebalanceplans" || r.Resource == "rebalanceruns")
}

func statusCode(e auditv1.Event) int32 {
	if e.ResponseStatus == nil {
		return 0
	}
	return e.ResponseStatus.Code
}

func parseEviction(e auditv1.Event) Eviction {
	out := Eviction{At: e.RequestReceivedTimestamp.Time, Done: e.StageTimestamp.Time, User: e.User.Username,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name, Code: statusCode(e), Deletion: e.Verb == "delete"}
	type deleteOptions struct {
		Preconditions struct{ UID string }
	}
	var body struct {
		DeleteOptions deleteOptions // of an eviction
		deleteOptions
	}
	if e.RequestObject != nil && json.Unmarshal(e.RequestObject.Raw, &body) == nil {
		out.UID = cmp.Or(body.DeleteOptions.Preconditions.UID, body.Preconditions.UID)
	}
	return out
}

func leaseHolder(e auditv1.Event) string {
	var body struct {
		Spec struct{ HolderIdentity string }
	}
	if e.RequestObject == nil || json.Unmarshal(e.RequestObject.Raw, &body) != nil {
		return ""
	}
	return strings.TrimSpace(body.Spec.HolderIdentity)
}

// completedEviction is an eviction that took place, with the state of the pod from the recording.
type completedEviction struct {
	Eviction
	pod  *Pod // state before the eviction; nil if the recording does not show it
	zone string
}
