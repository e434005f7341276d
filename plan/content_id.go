package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
)

// ContentID returns a hash of a plan without its ID, in 16 hex digits. Equal plans have equal IDs. The hash is that of
// the plan's JSON.
func ContentID(p Plan) string {
	sum, moves := sha256.New(), p.Moves
	p.ID, p.Moves = "", moves[:0]
	rest, err := json.Marshal(&p) // the moves are encoded one by one: a buffer for thousands of them costs more than the rest
	mustEncode(err)
	key := []byte(`"moves":[`) // no field before Moves has a list with this key
	before, after, found := bytes.Cut(rest, key)
	sum.Write(before)
	if found {
		sum.Write(key)
	}
	for i := range moves {
		if i > 0 {
			io.WriteString(sum, ",")
		}
		mustEncode(json.NewEncoder(withoutNewline{sum}).Encode(&moves[i]))
	}
	sum.Write(after)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func mustEncode(err error) {
	if err != nil {
		panic("plan: marshalling a plan: " + err.Error()) // cannot happen: a plan has only data types
	}
}

// withoutNewline drops the newline that an Encoder writes last, so the bytes are those of json.Marshal.
type withoutNewline struct{ io.Writer }

func (w withoutNewline) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(bytes.TrimSuffix(b, []byte("\n")))
	return n + 1, err
}

// ContinueNumbering returns p with steps and waves that continue those of the first plan of
// the same pass. The result has a new ID.
func (p Plan) ContinueNumbering(first Plan) Plan {
	steps, waves := 0, 0
	for _, m := range first.Moves {
		steps, waves = max(steps, m.Step), max(waves, m.Wave)
	}
	p.Moves, p.Hints = slices.Clone(p.Moves), slices.Clone(p.Hints)
	for i := range p.Moves {
		p.Moves[i].Step += steps
		p.Moves[i].Wave += waves
	}
	for i := range p.Hints {
		p.Hints[i].Wave += waves
	}
	p.ID = ContentID(p)
	return p
}

// Round rounds a float to four decimal places. After rounding, sums of the same numbers in any order print the same
// bytes.
func Round(x float64) float64 {
	r := math.Round(x*1e4) / 1e4
	if r == 0 {
		return 0 // never -0
	}
	return r
}
