// Command real answers requests with the scheduler version with which it is built, so that tests can compare other
// versions than their own. The program reads JSON values from standard input, and answers each replacement request with
// a JSON value on standard output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evenkeel-project/evenkeel/lab/oracle/real"
)

func main() {
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := real.New(ctx)
	if err != nil {
		return fmt.Errorf("starting the scheduler: %w", err)
	}
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q real.Request
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if q.Configuration != "" {
			if err := s.Configure(ctx, q.Configuration); err != nil {
				return err
			}
			continue
		}
		if q.Load != nil {
			if err := s.Load(q.Load); err != nil {
				return fmt.Errorf("loading a cluster: %w", err)
			}
			continue
		}
		results, err := s.Replace(ctx, q.Pod, q.Gone)
		if err != nil {
			return fmt.Errorf("placing the replacement of pod %d: %w", q.Pod, err)
		}
		if err := answers.Encode(results); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
}
