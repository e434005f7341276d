package main

import (
	"net/http"
	"testing"
)

const aboutAPI = `x
`

type faults map[string]http.HandlerFunc
type requests struct{}

func (r *badInput) serve(t *testing.T) *requests { return &requests{} }
func (r *requests) evictions() []string          { return nil }
func apiRows(*testing.T) []badInput              { return nil }
