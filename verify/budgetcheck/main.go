// Command budgetcheck answers questions about budgets over standard input and output. The lab, a
// separate module, uses this command to compare package budget with a real API server. The command
// itself decides nothing and calls no API.
//
// Each input line is a request, and each output line is its response, both in JSON:
//
//	{"op":"open","book":"B","snapshot":"FILE","now":"2026-01-02T15:04:05Z","spent":{"ns/pdb":"TIME"}}
//	{"op":"ask","book":"B","taken":"T","pod":"ns/name"}   -> {"allowed":false,"code":"BlockedByPDB","message":"..."}
//	{"op":"take","book":"B","taken":"T","pod":"ns/name"}  -> {"taken":N}, the number of evictions counted so far
//	{"op":"close","book":"B"}
//
// The field "taken" names a count of evictions in flight; each name has its own count.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
)

type request struct {
	Op       string               `json:"op"`
	Book     string               `json:"book"`
	Snapshot string               `json:"snapshot"`
	Now      time.Time            `json:"now"`
	Spent    map[string]time.Time `json:"spent"`
	Taken    string               `json:"taken"`
	Pod      string               `json:"pod"`
}

type response struct {
	Allowed bool      `json:"allowed"`
	Code    plan.Code `json:"code,omitempty"`
	Message string    `json:"message,omitempty"`
	Taken   int       `json:"taken,omitempty"`
	Error   string    `json:"error,omitempty"`
}

type session struct {
	snapshot *cluster.Snapshot
	book     *budget.Tracker
	taken    map[string]budget.Charges
}

func main() {
	if err := serveRequests(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "budgetcheck:", err)
		os.Exit(1)
	}
}

func serveRequests(r io.Reader, w io.Writer) error {
	books := map[string]*session{}
	in, out := json.NewDecoder(bufio.NewReader(r)), json.NewEncoder(w)
	for {
		var q request
		err := in.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		a, err := answerRequest(books, q)
		if err != nil {
			a = response{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
}

func answerRequest(books map[string]*session, q request) (response, error) {
	if q.Op == "open" {
		o, err := newSession(q)
		books[q.Book] = o
		return response{}, err
	}
	o := books[q.Book]
	if o == nil {
		return response{}, fmt.Errorf("book %q is not open", q.Book)
	}
	if q.Op == "close" {
		delete(books, q.Book)
		return response{}, nil
	}
	p := o.snapshot.PodByKey(q.Pod)
	if p == nil {
		return response{}, fmt.Errorf("the snapshot has no pod %q", q.Pod)
	}
	t := o.taken[q.Taken]
	if t == nil {
		t = budget.Charges{}
		o.taken[q.Taken] = t
	}
	switch q.Op {
	case "ask":
		why, ok := o.book.Allows(p, t)
		return response{Allowed: ok, Code: why.Code, Message: why.Message}, nil
	case "take":
		o.book.Charge(p, t)
		n := 0
		for _, k := range t {
			n += k
		}
		return response{Taken: n}, nil
	}
	return response{}, fmt.Errorf("unknown op %q (want open, ask, take or close)", q.Op)
}

func newSession(q request) (*session, error) {
	objects, err := cluster.ReadFiles([]string{q.Snapshot}, nil)
	if err != nil {
		return nil, err
	}
	s, err := cluster.New(objects)
	if err != nil {
		return nil, fmt.Errorf("indexing %s: %w", q.Snapshot, err)
	}
	return &session{s, budget.NewTracker(s, q.Spent, q.Now), map[string]budget.Charges{}}, nil
}
