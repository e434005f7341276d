package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ContentID returns a hash of a plan without its ID, in 16 hex digits. Equal plans have
// equal IDs.
func ContentID(p Plan) string {
	p.ID = ""
	b, err := json.Marshal(p)
	if err != nil {
		panic("plan: marshalling a plan: " + err.Error()) // cannot happen: a plan has only data types
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
